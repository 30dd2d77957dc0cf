"""Encoded documents: what cannot be read has neither a shortlist nor answers."""

import numpy as np

from longtail.shortlist.candidate_features import FLOOR, LOG_FLOOR, CandidateFeatures, EncodedDocuments
from longtail.shortlist.candidates import Candidates


class Same(EncodedDocuments):
    """The labels 0, 3 and 4 for each document, with the scores .1, .3 and .2."""

    def __init__(self, readable: list[bool]) -> None:
        self.readable = np.array(readable)

    def shortlist(self, size: int) -> Candidates:
        n = len(self.readable)
        ids, scores = np.array([0, 3, 4], np.int32), np.array([0.1, 0.3, 0.2], np.float32)
        return Candidates.from_counts(np.full(n, 3), np.tile(ids, n), np.tile(scores, n))

    def features(self, candidates: Candidates) -> np.ndarray:
        return candidates.scores[:, None]


def test_a_document_that_cannot_be_read_has_no_candidates() -> None:
    found = Same([True, False, True]).readable_shortlist(3)
    assert found.counts.tolist() == [3, 0, 3]
    assert found.ids.tolist() == [0, 3, 4] * 2
    top = Same([True, False, True]).top_k(2)
    assert top.indices.tolist() == [[3, 4], [-1, -1], [3, 4]]
    assert top.scores[1].tolist() == [0, 0]
    assert Same([False]).readable_shortlist(3).counts.tolist() == [0]
    assert Same([True]).readable_shortlist(3).counts.tolist() == [3]


def test_batches_are_stacked() -> None:
    parts = []
    for readable in ([True], [False, True]):
        encoded = Same(readable)
        found = encoded.readable_shortlist(3)
        parts.append(CandidateFeatures(found, encoded.features(found), ("score",)))
    whole = CandidateFeatures.stack(parts, ("score",))
    assert whole.candidates.counts.tolist() == [3, 0, 3]
    assert (whole.features[:, 0] == whole.candidates.scores).all()
    nothing = CandidateFeatures.stack([], ("score", "other"))
    assert len(nothing.candidates) == 0
    assert nothing.features.shape == (0, 2)


def test_the_floor_of_probabilities() -> None:
    assert np.isclose(np.exp(LOG_FLOOR), FLOOR)
