import pytest

from longtail.data.catalogue import build
from longtail.errors import DataError

LICENCE = "  1 This is the licence, indented by two spaces.  \n"
EMPTY = {"data.adj": LICENCE, "data.adv": LICENCE, "data.verb": LICENCE, "data.noun": LICENCE}


def write(folder, files):
    for name, text in (EMPTY | files).items():
        (folder / name).write_text(text, encoding="latin-1")


def chain(n):
    """Nouns that each link to the next one."""
    lines = [
        f'{i:08d} 03 n 02 thing_{i} 0 item_{i} 0 001 @ {(i + 1) % n:08d} n 0000 | thing number {i}; "an item"  \n'
        for i in range(n)
    ]
    return LICENCE + "".join(lines)


def test_senses_links_and_glosses_are_read(tmp_path):
    adjective = "00000005 00 s 01 able(p) 0 002 = 00000001 n 0000 & 00000006 a 0101 | having means  \n"
    other = "00000006 00 a 01 capable 1 001 & 00000005 s 0101 | can do  \n"
    verb = "00000007 29 v 01 do 0 001 + 00000002 n 0101 02 + 08 00 + 02 00 | make it  \n"
    write(tmp_path, {"data.noun": chain(30), "data.adj": adjective + other, "data.verb": verb})
    parts = build("wordnet", folder=tmp_path, seed=1)
    documents = {d.id: (d, part) for part in parts.values() for d in part.documents}
    assert len(documents) == 33
    assert documents["a00000005"][0].title == "able"
    assert documents["n00000003"][0].title == "thing 3, item 3"
    assert documents["n00000003"][0].text == 'thing number 3; "an item"'
    found = {
        (part.documents.ids[row], part.labels.ids[column])
        for part in parts.values()
        for row, column in zip(*part.Y.nonzero(), strict=True)
    }
    assert {("a00000005", "n00000001"), ("v00000007", "n00000002"), ("n00000003", "n00000004")} <= found
    labels = parts["train"].labels
    assert labels.texts[labels.index["n00000004"]] == 'thing 4, item 4: thing number 4; "an item"'
    assert labels.ids == sorted(labels.ids)


def test_reverse_links_that_training_holds_are_not_scored(tmp_path):
    lines = "".join(
        f"{i:08d} 03 n 01 t{i} 0 002 @ {(i + 1) % 40:08d} n 0000 ~ {(i - 1) % 40:08d} n 0000 | g  \n"
        for i in range(40)
    )
    write(tmp_path, {"data.noun": lines})
    parts = build("wordnet", folder=tmp_path)
    train = set(parts["train"].documents.ids)
    for name in ("valid", "test"):
        part = parts[name]
        columns = part.Y.nonzero()[1]
        assert all(part.labels.ids[c] not in train for c in columns)
        assert part.filtered is not None
        assert part.filtered.nnz > len(part)
        assert part.Y.multiply(part.filtered).nnz == 0


def test_missing_files_name_the_package(tmp_path):
    with pytest.raises(DataError, match=r"data\.adj.*wordnet-base"):
        build("wordnet", folder=tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "garbage\n",
        "00000001 03 n 02 one 0 001 @ 00000002 n 0000 | words missing\n",
        "00000001 03 n 01 one 0 005 @ 00000002 n 0000 | links missing\n",
        "00000001 03 n zz one 0 000 | count\n",
        "00000001 03 n 01 one 0 001 @ 00000002 q 0000 | part of speech\n",
        "\x00\xff\n",
    ],
)
def test_a_damaged_line_is_named(tmp_path, line):
    write(tmp_path, {"data.noun": LICENCE + line})
    with pytest.raises(DataError, match=r"data\.noun, line 2"):
        build("wordnet", folder=tmp_path)
