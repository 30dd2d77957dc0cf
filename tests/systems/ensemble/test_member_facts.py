"""What an ensemble knows around its labels."""

from longtail.systems import create


def test_an_ensemble_asks_its_members(tiny):
    model = create("ensemble", {"members": ["linear", "knn"]}).fit(tiny.train, valid=tiny.valid)
    keeping = next(member.system for member in model.members_ if member.name == "knn")
    assert model.label_neighbours(0) == keeping.label_neighbours(0)
    assert model.label_neighbours(0)
    assert model.neighbour_source(0) == "documents"
    assert [id_ for id_, _ in model.label_documents(0)] == [id_ for id_, _ in keeping.label_documents(0)]


def test_weights_are_those_of_the_member_that_knows_neighbours(tiny):
    model = create("ensemble", {"members": ["linear", "knn"]}).fit(tiny.train, valid=tiny.valid)
    last = len(tiny.train.labels) - 1
    # It has no training document, so that no member knows a neighbour.
    assert model.label_neighbours(last) == []
    assert model.neighbour_source(last) == "documents"
