import os
import signal
import threading

import pytest

from longtail.errors import BusyError, LongtailError, OutputError, OutputExistsError
from longtail.storage import open_folder, read_json, write_json, writing_folder

from .processes import run, start


def write(path, value, **options):
    with writing_folder(path, **options) as folder:
        write_json(folder / "config.json", value)
        write_json(folder / "part" / "more.json", [value])


def test_writes_a_complete_folder_and_leaves_nothing_else(tmp_path):
    write(tmp_path / "deep" / "model", 1)
    assert os.listdir(tmp_path / "deep") == ["model"]
    assert sorted(open_folder(tmp_path / "deep" / "model").files) == ["config.json", "part/more.json"]


def test_the_same_content_gives_the_same_manifest(tmp_path):
    write(tmp_path / "a", 1)
    write(tmp_path / "b", 1)
    assert (tmp_path / "a" / "manifest.json").read_bytes() == (tmp_path / "b" / "manifest.json").read_bytes()


def test_an_existing_folder_needs_force(tmp_path):
    write(tmp_path / "model", 1)
    with pytest.raises(OutputExistsError, match="--force"):
        write(tmp_path / "model", 2)
    write(tmp_path / "model", 2, force=True)
    assert read_json(tmp_path / "model" / "config.json") == 2
    assert os.listdir(tmp_path) == ["model"]


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "model").mkdir()
    write(tmp_path / "model", 1)
    assert open_folder(tmp_path / "model")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_early_end_keeps_the_old_folder(tmp_path, error):
    write(tmp_path / "model", 1)

    def interrupted():
        with writing_folder(tmp_path / "model", force=True) as folder:
            write_json(folder / "config.json", 2)
            raise error

    with pytest.raises(error):
        interrupted()
    assert read_json(tmp_path / "model" / "config.json") == 1
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("foreign", ["notes.txt", "part/notes.txt", ".git/config", "manifest.json", "link"])
def test_force_never_deletes_what_is_not_ours(tmp_path, foreign):
    write(tmp_path / "model", 1)
    path = tmp_path / "model" / foreign
    path.parent.mkdir(exist_ok=True)
    if foreign == "link":
        path.symlink_to(tmp_path)
    else:
        path.write_text('{"name": "a web page"}')
    with pytest.raises(OutputExistsError, match=foreign):
        write(tmp_path / "model", 2, force=True)
    assert read_json(tmp_path / "model" / "config.json") == 1


DATA = [
    "train.jsonl",
    "labels.jsonl.gz",
    "filter_test.tsv",
    "edges.tsv",
    "filter_labels_train.txt",
    "trn_X_Y.txt",
    "X.val.npz",
]


def write_data(path, text):
    with writing_folder(path, force=True, manifest=False) as folder:
        for name in DATA:
            (folder / name).write_text(text)


@pytest.mark.parametrize(
    "foreign", ["main.py", "train.csv", "links.tsv", "test_notes.txt", "sub/train.jsonl"]
)
def test_a_data_folder_may_be_replaced_but_not_one_with_other_files(tmp_path, foreign):
    write_data(tmp_path / "data", "1")
    (tmp_path / "data" / ".DS_Store").touch()
    write_data(tmp_path / "data", "2")
    assert (tmp_path / "data" / "train.jsonl").read_text() == "2"
    (tmp_path / "data" / foreign).parent.mkdir(exist_ok=True)
    (tmp_path / "data" / foreign).touch()
    with pytest.raises(OutputExistsError, match=foreign):
        write_data(tmp_path / "data", "3")
    assert (tmp_path / "data" / "train.jsonl").read_text() == "2"
    assert (tmp_path / "data" / foreign).exists()


def test_wrong_places_are_one_sentence(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputExistsError, match="file of that name"):
        write(tmp_path / "file", 1, force=True)
    with pytest.raises(OutputError, match="is a file, not a folder"):
        write(tmp_path / "file" / "model", 1)


def test_a_killed_writer_costs_nothing(tmp_path):
    write(tmp_path / "model", 1)
    # As after a power cut between the two renames: the old folder set aside, the new one not yet in place.
    os.rename(tmp_path / "model", tmp_path / ".model.longtail-old")
    (tmp_path / ".model.longtail-new").mkdir()
    with pytest.raises(LongtailError, match=r"\.model\.longtail-old"):
        open_folder(tmp_path / "model")
    with pytest.raises(OutputExistsError):
        write(tmp_path / "model", 2)
    assert read_json(tmp_path / "model" / "config.json") == 1
    assert os.listdir(tmp_path) == ["model"]


LIMITED = """
import resource, sys
import numpy as np
from longtail.errors import OutputError
from longtail.storage import write_arrays, writing_folder
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    with writing_folder(sys.argv[1], force=True) as folder:
        write_arrays(folder / "w.safetensors", {"w": np.zeros(100_000)})
except OutputError as error:
    print(error)
"""


def test_a_disk_that_takes_no_more_keeps_the_old_folder_and_is_one_sentence(tmp_path):
    write(tmp_path / "model", 1)
    assert run(LIMITED, tmp_path / "model") == (
        f"cannot write {tmp_path}/model: the file is larger than this system allows\n"
    )
    assert read_json(tmp_path / "model" / "config.json") == 1
    assert os.listdir(tmp_path) == ["model"]


SLOW = """
import sys
from longtail.storage import write_json, writing_folder
with writing_folder(sys.argv[1], force=True) as folder:
    write_json(folder / "config.json", 2)
    print("ready", flush=True)
    sys.stdin.readline()
"""


def test_a_second_process_is_told_that_it_is_busy(tmp_path):
    first = start(SLOW, tmp_path / "model")
    assert first.stdout is not None
    assert first.stdin is not None
    first.stdout.readline()
    with pytest.raises(BusyError, match="another process is writing"):
        write(tmp_path / "model", 3, force=True)
    first.stdin.write("\n")
    first.communicate(timeout=60)
    assert read_json(tmp_path / "model" / "config.json") == 2
    assert os.listdir(tmp_path) == ["model"]


def test_ctrl_c_and_kill_keep_the_old_folder(tmp_path):
    write(tmp_path / "model", 1)
    for how in (signal.SIGINT, signal.SIGKILL):
        process = start(SLOW, tmp_path / "model")
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(how)
        process.communicate(timeout=60)
        assert read_json(tmp_path / "model" / "config.json") == 1
        if how == signal.SIGINT:
            assert os.listdir(tmp_path) == ["model"]
    write(tmp_path / "model", 4, force=True)
    assert read_json(tmp_path / "model" / "config.json") == 4
    assert os.listdir(tmp_path) == ["model"]


def test_many_threads_leave_one_whole_folder(tmp_path):
    outcomes = []

    def attempt(number):
        try:
            write(tmp_path / "model", number, force=True)
            outcomes.append(number)
        except BusyError:
            pass

    threads = [threading.Thread(target=attempt, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_json(open_folder(tmp_path / "model").path("config.json")) in outcomes
    assert os.listdir(tmp_path) == ["model"]
