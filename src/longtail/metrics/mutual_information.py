"""What a clustering of labels forgets, in bits and as a fraction: the columns of ECLARE's Table 7."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longtail.metrics.clusters import mutual_information, mutual_information_loss

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class InformationLoss(NamedTuple):
    """I(labels; documents) - I(clusters; documents), in bits and as a fraction of the first term."""

    bits: float
    relative: float


def information_loss(Y: csr_array, cluster_of: np.ndarray) -> InformationLoss:
    """The mutual information of labels and documents that is lost when labels become clusters.

    The criterion of Dhillon, Mallela and Kumar (2003); every stored assignment of Y is equally likely. Lower is
    better: 0 when each label is a cluster.

    Args:
        Y: documents x labels.
        cluster_of: the cluster of every label, not negative, int [labels].
    """
    relative = mutual_information_loss(Y, cluster_of)
    return InformationLoss(relative * mutual_information(Y) / float(np.log(2)), relative)
