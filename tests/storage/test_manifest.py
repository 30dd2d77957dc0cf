import orjson
import pytest

from longtail.errors import ModelError, ModelIntegrityError, ModelVersionError
from longtail.storage.manifest import read_manifest, write_manifest

ENTRY = {"size": 0, "sha256": "0" * 64}


def manifest(folder, **changes):
    value = {"format": "longtail-folder", "version": 1, "files": {}} | changes
    (folder / "manifest.json").write_bytes(orjson.dumps(value))


def test_lists_files_with_size_and_digest(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_bytes(b"abc")
    write_manifest(tmp_path)
    write_manifest(tmp_path)
    files = read_manifest(tmp_path)
    assert list(files) == ["sub/a"]
    assert files["sub/a"].size == 3
    assert files["sub/a"].sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/../../x",
        "/etc/passwd",
        "a//b",
        "./a",
        "a/",
        "",
        "..",
        ".",
        "..\\x",
        "C:/x",
        "a\0b",
        "manifest.json",
    ],
)
def test_paths_that_leave_the_folder_are_refused(tmp_path, name):
    manifest(tmp_path, files={name: ENTRY})
    with pytest.raises(ModelIntegrityError, match="not a plain path"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "files",
    [
        None,
        [],
        {"a": None},
        {"a": {"size": 1}},
        {"a": ENTRY | {"size": -1}},
        {"a": ENTRY | {"size": 1.0}},
        {"a": ENTRY | {"size": True}},
        {"a": ENTRY | {"size": "1"}},
        {"a": ENTRY | {"sha256": "0" * 63}},
        {"a": ENTRY | {"sha256": "G" * 64}},
        {"a": ENTRY | {"sha256": 0}},
        {"a": [ENTRY]},
    ],
)
def test_entries_of_the_wrong_shape_are_refused(tmp_path, files):
    manifest(tmp_path, files=files)
    with pytest.raises(ModelIntegrityError, match=r"manifest\.json"):
        read_manifest(tmp_path)


def test_the_version_is_checked_before_the_rest(tmp_path):
    manifest(tmp_path, version=2, files="of the future")
    with pytest.raises(ModelVersionError, match="upgrade"):
        read_manifest(tmp_path)
    for wrong in (0, "1", None, True, 1.0):
        manifest(tmp_path, version=wrong)
        with pytest.raises(ModelIntegrityError, match="version"):
            read_manifest(tmp_path)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"null", b"[" * 10**6, b"{}", b'{"format": "web"}', b"\xff\xfe", b'{"format":']
)
def test_what_is_no_manifest_is_refused(tmp_path, text):
    (tmp_path / "manifest.json").write_bytes(text)
    with pytest.raises(ModelError, match=r"manifest\.json"):
        read_manifest(tmp_path)


def test_a_huge_manifest_is_not_read(tmp_path):
    with (tmp_path / "manifest.json").open("wb") as handle:
        handle.truncate(2**34)
    with pytest.raises(ModelIntegrityError, match="too much"):
        read_manifest(tmp_path)


def test_messages_stay_short(tmp_path):
    manifest(tmp_path, files={"../" + "x" * 10_000: ENTRY})
    with pytest.raises(ModelIntegrityError) as caught:
        read_manifest(tmp_path)
    assert len(str(caught.value)) < 400
