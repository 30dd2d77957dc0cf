import pytest

from longtail.data.catalogue import build
from longtail.data.catalogue.debian import plain_description, related
from longtail.errors import DataError


def test_relations_keep_every_alternative_and_no_versions():
    fields = {
        "Depends": "libc6 (>= 2.34), fonts-a | fonts-b,perl:any,\n python3 [amd64]",
        "Pre-Depends": "dpkg",
        "Enhances": "x <!nocheck>",
        "Conflicts": "enemy",
        "Suggests": "",
    }
    assert related(fields) == ["dpkg", "libc6", "fonts-a", "fonts-b", "perl", "python3", "x"]


def test_descriptions_lose_their_markup():
    assert plain_description(" First.\n .\n  * item\n .") == "First.\n\n * item"
    assert plain_description("") == ""


def index(n=60):
    blocks = []
    for i in range(n):
        source = f"Source: src{i // 3} (1.{i})\n" if i % 3 else ""
        blocks.append(
            f"Package: {f'src{i // 3}' if i % 3 == 0 else f'pkg{i}'}\n{source}Version: 1\n"
            f"Depends: src{(i * 7) % 20} (>= 1) | virtual, pkg{(i + 1) % n}\n"
            f"Description: does thing {i}\nDescription-md5: {i:032d}\n"
        )
    blocks.append("Package: lonely\nDescription: depends on nothing\n")
    blocks.append(blocks[0].replace("does thing", "is an older version that does thing"))
    return "\n".join(blocks)


def test_packages_become_documents_and_labels(tmp_path):
    (tmp_path / "site_Packages").write_text(index())
    (tmp_path / "site_Translation-en").write_text(
        f"Package: src0\nDescription-md5: {0:032d}\nDescription-en: does thing 0\n At length.\n"
    )
    parts = build("debian", folder=tmp_path)
    documents = {d.id: d for part in parts.values() for d in part.documents}
    assert documents["src0"].title == "src0: does thing 0"
    assert documents["src0"].text == "At length."
    assert "lonely" not in documents
    labels = parts["train"].labels
    assert "virtual" not in labels.index
    assert labels.texts[labels.index["src0"]] == "src0: does thing 0"
    sources = [{e["source"] for e in part.documents.extra or []} for part in parts.values()]
    assert all(sources)
    assert not sources[0] & sources[1]
    assert not sources[0] & sources[2]
    assert not sources[1] & sources[2]
    for part in parts.values():
        assert part.Y.multiply(part.filtered).nnz == 0
        own = {
            (part.documents.ids[r], part.labels.ids[c]) for r, c in zip(*part.filtered.nonzero(), strict=True)
        }
        assert own == {(name, name) for name in part.documents.ids if name in labels.index}


def test_without_an_index_the_error_says_what_to_do(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(DataError, match=r"apt-get update.*synthetic"):
            build("debian", folder=folder)
