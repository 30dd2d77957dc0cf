from longtail import systems
from longtail.systems.tfidf_settings import tfidf_settings
from longtail.types import LabelSet

LABELS = LabelSet(["a", "b"], ["first", ""])


def test_label_texts_belong_to_the_vocabulary_where_a_system_reads_them() -> None:
    [eclare] = tfidf_settings(systems.create("eclare", {}), LABELS)
    assert eclare.label_texts == ("first",)
    [linear] = tfidf_settings(systems.create("linear", {}), LABELS)
    assert linear.label_texts == ()
    [example] = tfidf_settings(systems.create("linear", {"label_text": "example"}), LABELS)
    assert example.label_texts == ("first",)


def test_members_of_an_ensemble_share_equal_settings() -> None:
    ensemble = systems.create("ensemble", {"members": ["linear", "knn", "lexical", "eclare"]})
    found = tfidf_settings(ensemble, LABELS)
    assert 2 <= len(found) < 4
    assert len(set(found)) == len(found)


def test_some_systems_have_none() -> None:
    assert tfidf_settings(systems.create("dummy", {}), LABELS) == []
