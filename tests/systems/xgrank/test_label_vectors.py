"""Label vectors: the average of token embeddings and an identity; tokens of documents in the same space."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.systems.xgrank.label_vectors import (
    LabelVectors,
    bags_of_tokens,
    identity_weights,
    inverse_document_frequency,
)
from longtail.text.subwords import TokenRows

TOKENS = TokenRows(np.array([3, 1, 3, 0], np.int32), np.array([0, 3, 3, 4]), 0, False)
"""Three texts: "3 1 3", nothing, "0"."""


def test_an_average_counts_every_token() -> None:
    rows = bags_of_tokens(TOKENS, 5, None).toarray()
    np.testing.assert_allclose(rows, [[0, 1 / 3, 0, 2 / 3, 0], [0] * 5, [1, 0, 0, 0, 0]], atol=1e-6)


def test_tfidf_rows_have_length_one() -> None:
    idf = inverse_document_frequency(TOKENS, 5)
    np.testing.assert_allclose(idf[[0, 1, 3]], np.log(4 / 2) + 1, rtol=1e-6)
    np.testing.assert_allclose(idf[[2, 4]], np.log(4) + 1, rtol=1e-6)
    rows = bags_of_tokens(TOKENS, 5, idf).toarray()
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1])
    assert rows[0, 3] / rows[0, 1] == pytest.approx(1 + np.log(2))


def world() -> LabelVectors:
    return LabelVectors(bags_of_tokens(TOKENS, 5, None), np.array([1.0, 0.5, 0.25]), 4, seed=0)


def test_a_vector_is_text_and_identity_side_by_side() -> None:
    labels = world()
    assert labels.tokens is not None
    table, identity = labels.tokens.weight, labels.identity.weight
    vectors, text = labels.take(np.array([0, 2]), None)
    assert text is None
    torch.testing.assert_close(vectors[0], torch.cat([(2 * table[3] + table[1]) / 3, identity[0]]))
    torch.testing.assert_close(vectors[1], torch.cat([table[0], identity[2] * 0.25]))
    assert (labels.learned, sorted(labels.tables())) == (8, ["identity", "tokens"])


def test_encoded_texts_are_the_last_part_and_have_no_gradient() -> None:
    plain, fixed = world(), np.arange(6, dtype=np.float32).reshape(3, 2)
    labels = LabelVectors(plain.Z, np.ones(3), 4, 0, fixed)
    vectors, _ = labels.take(np.array([0, 2]), None)
    assert (labels.learned, vectors.shape[1]) == (8, 10)
    assert vectors[:, 8:].tolist() == [[0, 1], [4, 5]]
    assert sorted(labels.tables()) == ["identity", "tokens"]
    alone = LabelVectors(None, np.ones(3), 4, 0, fixed)
    assert alone.take(np.array([1]), None)[0][:, 4:].tolist() == [[2, 3]]
    np.testing.assert_allclose(alone.export()[:, 4:], fixed)


@pytest.mark.parametrize("encoded", [None, np.ones((3, 2), np.float32)])
def test_the_export_is_what_training_sees(encoded: np.ndarray | None) -> None:
    labels = LabelVectors(world().Z, np.array([1.0, 0.5, 0.25]), 4, 0, encoded)
    vectors, _ = labels.take(np.arange(3), None)
    np.testing.assert_allclose(labels.export(), vectors.detach().numpy(), atol=1e-6)


def test_documents_are_in_the_same_space_and_both_have_gradients() -> None:
    labels = world()
    documents = bags_of_tokens(TOKENS, 5, None)[[0]]
    vectors, text = labels.take(np.array([0]), csr_array(documents))
    assert text is not None
    torch.testing.assert_close(text[0], vectors[0, :4])
    (vectors.sum() + text.sum()).backward()
    assert labels.tokens is not None
    found, identity = labels.tokens.gradient(), labels.identity.gradient()
    assert found is not None
    assert identity is not None
    assert found[0].tolist() == [1, 3]
    torch.testing.assert_close(found[1], torch.tensor([[2 / 3] * 4, [4 / 3] * 4]))
    torch.testing.assert_close(identity[1], torch.ones((1, 4)))


def test_without_texts_the_identity_is_all() -> None:
    labels = LabelVectors(None, np.ones(3), 4, seed=0)
    vectors, text = labels.take(np.array([1]), None)
    assert text is None
    torch.testing.assert_close(vectors[0], labels.identity.weight[1])
    assert labels.export().shape == (3, 4)
    assert labels.learned == 4


def test_shrinkage_of_identities() -> None:
    Z = csr_array(np.array([[1, 0], [1, 0], [0, 0]], np.float32))
    counts = np.array([0, 2, 0])
    # A label without a text has nothing else.
    assert identity_weights(counts, Z, 2.0).tolist() == [0, 0.5, 1]
    assert identity_weights(counts, Z, 0.0).tolist() == [1, 1, 1]
    assert identity_weights(counts, None, 2.0).tolist() == [1, 1, 1]
