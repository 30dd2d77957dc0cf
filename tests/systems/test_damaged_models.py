"""Every damage to a file of a model folder is a ModelError that says where; loading runs nothing from it."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage.manifest import MANIFEST
from longtail.systems import load
from tests.systems.damage import UNREAD, fit_manifest, names, refused

# --- damage that the manifest sees -----------------------------------------------------------------------


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def grown(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def removed(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def flipped(place: float) -> Callable[[Path], None]:
    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 1
        path.write_bytes(content)

    return flip


@pytest.mark.parametrize(
    "damage",
    [truncated, emptied, grown, removed, a_folder, *map(flipped, (0, 0.25, 0.5, 0.75, 1))],
    ids=lambda damage: damage.__name__,
)
def test_a_damaged_file_is_refused(copy, saved, damage):
    for name in names(saved):
        if name == MANIFEST and damage is grown:
            continue  # a blank line more is the same manifest
        model = copy()
        damage(model / name)
        refused(model)


def test_a_file_in_the_place_of_another_is_refused(copy, saved):
    for one, other in permutations(names(saved), 2):
        model = copy()
        shutil.copyfile(saved / one, model / other)
        refused(model)


def test_two_files_swapped_are_refused(copy, saved):
    files = names(saved)
    for one, other in zip(files, [*files[1:], files[0]], strict=True):
        model = copy()
        shutil.copyfile(saved / one, model / other)
        shutil.copyfile(saved / other, model / one)
        refused(model)


def test_a_link_that_leads_out_is_refused_even_to_the_very_same_bytes(copy, saved):
    for name in names(saved, but=(MANIFEST,)):
        model = copy()
        (model / name).unlink()
        (model / name).symlink_to(saved / name)
        assert "leads out" in refused(model, ModelIntegrityError)


def test_no_byte_of_the_manifest_can_change(dummy):
    manifest = dummy / MANIFEST
    content = manifest.read_bytes()
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 1 << at % 8
        manifest.write_bytes(changed)
        refused(dummy)
    manifest.write_bytes(content)
    load(dummy)


# --- damage that the manifest does not see ---------------------------------------------------------------


@pytest.mark.parametrize("damage", [truncated, emptied, removed], ids=lambda damage: damage.__name__)
def test_a_part_that_is_not_whole_is_refused_when_the_manifest_fits(copy, saved, damage):
    for name in names(saved, but=(MANIFEST, UNREAD)):
        model = copy()
        damage(model / name)
        fit_manifest(model)
        refused(model)


def test_a_part_in_the_place_of_another_is_refused_when_the_manifest_fits(copy, saved):
    # Between the trees of one model nobody can tell; every other pair is of different kinds.
    for one, other in permutations(names(saved, but=(MANIFEST,)), 2):
        if other != UNREAD and not (one.startswith("tree-") and other.startswith("tree-")):
            model = copy()
            shutil.copyfile(saved / one, model / other)
            fit_manifest(model)
            refused(model)


def test_the_card_is_for_people(model, tiny):
    expected = load(model).predict(tiny.test)
    (model / UNREAD).unlink()
    fit_manifest(model)
    assert (load(model).predict(tiny.test).indices == expected.indices).all()


# --- what loading runs -----------------------------------------------------------------------------------

WITHOUT_PICKLE = """
import sys

imported = []

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "joblib", "dill", "cloudpickle"):
            imported.append(name)

sys.meta_path.insert(0, Watch())

import longtail

# The kernels' compiler keeps a cache of its own, so they are all made ready before unpickling is forbidden.
warm = longtail.load(sys.argv[1]).predict(["bababade"], k=3)

import _pickle
import pickle

def forbidden(*arguments, **options):
    raise AssertionError("something is unpickled")

for module in (pickle, _pickle):
    for name in ("load", "loads", "Unpickler", "_load", "_loads", "_Unpickler"):
        if hasattr(module, name):
            setattr(module, name, forbidden)

def watch(event, arguments):
    if event in ("pickle.find_class", "marshal.loads", "subprocess.Popen", "socket.connect"):
        raise AssertionError(event)

sys.addaudithook(watch)
try:
    pickle.loads(b"")
except AssertionError:
    pass
else:
    sys.exit("unpickling is not forbidden")
cold = longtail.load(sys.argv[1]).predict(["bababade"], k=3)
assert (cold.indices == warm.indices).all() and (cold.scores == warm.scores).all()
assert imported == [], imported
assert "torch" not in sys.modules
print("loaded", cold.indices.shape)
"""


def test_loading_unpickles_nothing_and_needs_no_torch(saved):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PICKLE, str(saved)], capture_output=True, text=True, timeout=250
    )
    assert done.stdout == "loaded (1, 3)\n", done.stderr[-3000:]
