import bz2
import gzip
import lzma
import shutil
import subprocess

import pytest

from longtail.data.catalogue.package_index import long_descriptions, packages, paragraphs
from longtail.errors import DataError

TEXT = "Package: a\nDescription: short\n long\n .\n more\n\n\n\nPackage: b\nTag: x,\n y\n\nOther: c\n"


def test_paragraphs_fields_and_continued_lines():
    assert list(paragraphs(TEXT.splitlines(keepends=True))) == [
        {"Package": "a", "Description": "short\n long\n .\n more"},
        {"Package": "b", "Tag": "x,\n y"},
        {"Other": "c"},
    ]
    assert list(paragraphs([" continues nothing\n", "a: 1\r\n"])) == [{"a": "1"}]


@pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_lists_may_be_compressed(tmp_path, ending, pack):
    (tmp_path / f"site_main_binary-amd64_Packages{ending}").write_bytes(pack(TEXT.encode()))
    assert [fields["Package"] for fields in packages(tmp_path)] == ["a", "b"]
    translation = b"Package: a\nDescription-md5: 123\nDescription-en: short\n long text\n"
    (tmp_path / f"site_main_i18n_Translation-en{ending}").write_bytes(pack(translation))
    assert long_descriptions(tmp_path) == {"123": " long text"}


@pytest.mark.skipif(shutil.which("lz4") is None, reason="needs the program lz4")
def test_lists_in_lz4(tmp_path):
    path = tmp_path / "site_Packages.lz4"
    path.write_bytes(
        subprocess.run(["lz4", "-c"], input=TEXT.encode(), capture_output=True, check=True).stdout
    )
    assert [fields["Package"] for fields in packages(tmp_path)] == ["a", "b"]
    path.write_bytes(b"not lz4")
    with pytest.raises(DataError, match=r"site_Packages\.lz4"):
        list(packages(tmp_path))


def test_without_a_program_for_lz4_the_error_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "site_Packages.lz4").write_bytes(b"")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("longtail.data.catalogue.package_index._APT_HELPER", str(tmp_path / "none"))
    with pytest.raises(DataError, match="install Debian's package lz4"):
        list(packages(tmp_path))


@pytest.mark.parametrize("ending", [".gz", ".xz", ".bz2"])
def test_a_damaged_list_is_named(tmp_path, ending):
    (tmp_path / f"site_Packages{ending}").write_bytes(b"damaged")
    with pytest.raises(DataError, match="site_Packages"):
        list(packages(tmp_path))
    (tmp_path / f"site_Packages{ending}").write_bytes(gzip.compress(TEXT.encode() * 100)[:60])
    with pytest.raises(DataError, match="site_Packages"):
        list(packages(tmp_path))
