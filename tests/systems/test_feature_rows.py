import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.systems.feature_rows import check_kind
from longtail.types import Documents

TEXTS, ROWS = Documents.of(["a text"]), Documents.from_features(csr_array(np.ones((1, 3), np.float32)))


def test_what_is_like_the_training_data_is_taken() -> None:
    check_kind(TEXTS, None)
    check_kind(ROWS, 3)


@pytest.mark.parametrize(
    ("documents", "width", "says"),
    [
        (ROWS, None, "trained on texts"),
        (TEXTS, 3, "trained on a feature matrix"),
        (ROWS, 4, "has 3 columns, the model was trained on 4"),
    ],
)
def test_what_is_of_another_kind_is_refused(documents: Documents, width: int | None, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        check_kind(documents, width)
