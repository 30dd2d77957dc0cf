"""The attention of a label goes to the resolution that tells it apart: its own text, or that of its neighbours."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset, Documents, Edges, LabelSet

KINDS, DOCUMENTS = 6, 400


def planted_hops() -> Dataset:
    """Half of the labels depend on the words of a document, half on the words of the one that it has an edge to.

    A document has a word of kind a and an edge to a hub of kind b, its labels are own-a and near-b. The hubs have
    words of their own and no labels.
    """
    rng = np.random.default_rng(0)
    own, near = rng.integers(KINDS, size=(2, DOCUMENTS))
    rows = np.zeros((DOCUMENTS + KINDS, 2 * KINDS), np.float32)
    rows[np.arange(DOCUMENTS), own] = 1
    rows[DOCUMENTS + np.arange(KINDS), KINDS + np.arange(KINDS)] = 1
    Y = np.zeros((DOCUMENTS + KINDS, 2 * KINDS), np.float32)
    Y[np.arange(DOCUMENTS), own] = 1
    Y[np.arange(DOCUMENTS), KINDS + near] = 1
    ids = [*(f"document-{i}" for i in range(DOCUMENTS)), *(f"hub-{b}" for b in range(KINDS))]
    labels = [f"{side}-{kind}" for side in ("own", "near") for kind in range(KINDS)]
    empty = [""] * len(ids)
    return Dataset(
        Documents(ids, empty, empty, csr_array(rows)),
        LabelSet(labels, [""] * len(labels)),
        csr_array(Y),
        edges=Edges(ids[:DOCUMENTS], [f"hub-{b}" for b in near], np.ones(DOCUMENTS, np.float32)),
    )


def test_labels_attend_to_the_hop_that_tells_them_apart() -> None:
    stage = {"epochs": 10, "lr": 0.01, "batch_size": 64}
    model = Galaxc(
        calibrate="none",
        initial={"source": "given"},
        graph={"fanouts": (1,), "neighbours": 1},
        neighbourhood={"near": 1.0},
        classifier={"node": False},
        stages={"joint": stage},
    ).fit(planted_hops())
    attention = model.predictor_.weights.attention
    assert attention.std(axis=0).min() >= 0.05
    # Hop 1 is the sum of both: a label of the document's own words has no use for the hub's.
    assert attention[:KINDS, 0].mean() > attention[KINDS:, 0].mean() + 0.2
    assert attention[KINDS:, 1].mean() > 0.6
