"""A pre-trained transformer as a block: padded tokens in, the states of every layer out.

The table of word embeddings stands beside the module: a batch touches few of its rows, and a step that updated
all of them (half of the weights of a small encoder) would take longer than it learns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import torch

from longtail.blocks import bfloat16_products, onednn_products
from longtail.errors import MissingPackageError, ModelIntegrityError, UsageError
from longtail.storage import read_bytes
from longtail.text.pretrained import WEIGHTS, EncoderFolder
from longtail.text.subwords import Padded

States = tuple[torch.Tensor, ...]
"""The states after the embeddings and after each layer, [n, tokens, D] each."""

Pooling = Literal["cls", "mean"]
"""The vector of a text: the state of [CLS], or the mean of the states of its tokens."""

WORDS = "words"
"""The name of the table of word embeddings among the saved arrays."""
_SEGMENT_OF_CLS, _SEGMENT_OF_PADDING = 2, 3
"""XLNet was trained with these."""


class Transformer(torch.nn.Module):
    """Any encoder that transformers can read, without its pooler.

    Attributes:
        folder: its files.
        words: float32 [vocabulary, D], not a parameter of the module.
        model: the library's own module, but for the words.
    """

    def __init__(self, folder: EncoderFolder, model: Any) -> None:
        super().__init__()
        self.folder = folder
        if getattr(model, "pooler", None) is not None:
            model.pooler = None
        self.words: torch.Tensor = model.get_input_embeddings().weight.detach().float().contiguous()
        model.set_input_embeddings(torch.nn.Identity())
        self.model = model

    @classmethod
    def of(cls, folder: EncoderFolder, *, dropout: float = 0.0) -> Transformer:
        """The pre-trained weights; ``dropout`` is that of every kind of dropout in the encoder."""
        with _reading(folder) as library:
            config = _config(library, folder, dropout)
            weights = _weights(folder)
            kind = library.MODEL_MAPPING[type(config)]
            with torch.device("meta"):
                wanted = sum(parameter.numel() for parameter in kind(config).parameters())
            given = sum(tensor.numel() for tensor in weights.values())
            # A pooler may be missing from the file. What else is missing would be made at random, at any size.
            if wanted > given + folder.width * (folder.width + 1) + _ROOM:
                raise UsageError(
                    f"the transformer in {folder.folder} cannot be read: its settings ask for {wanted:,} weights, "
                    f"but {WEIGHTS} has {given:,}"
                )
            model = kind.from_pretrained(None, config=config, state_dict=weights, dtype=torch.float32)
            return cls(folder, model)

    @classmethod
    def from_arrays(cls, folder: EncoderFolder, arrays: Mapping[str, np.ndarray]) -> Transformer:
        """Weights that ``arrays`` gave, with the settings of ``folder``; for prediction, so without dropout."""
        with _reading(folder) as library, torch.device("meta"):
            made = cls(folder, library.AutoModel.from_config(_config(library, folder, 0.0)))
        words = arrays.get(WORDS)
        # ALBERT's words are narrower than its layers: the settings say how wide they are.
        if words is None or words.ndim != 2 or words.shape[1] != made.words.shape[1]:
            raise ModelIntegrityError("the encoder's word embeddings are missing or have another width")
        made.words = torch.from_numpy(np.require(words, np.float32, ["C", "W"]))
        rest = {name: array for name, array in arrays.items() if name != WORDS}
        own = {name: tuple(tensor.shape) for name, tensor in made.model.state_dict().items()}
        found = {name: array.shape for name, array in rest.items()}
        if own != found:
            odd = next(name for name in sorted(own.keys() | found) if own.get(name) != found.get(name))
            raise ModelIntegrityError(f"the encoder's weights do not fit its settings: '{odd}'")
        tensors = {
            name: torch.from_numpy(np.require(array, np.float32, ["C", "W"])) for name, array in rest.items()
        }
        made.model.load_state_dict(tensors, assign=True)
        made._fill_buffers()
        return made.eval()

    def arrays(self) -> dict[str, np.ndarray]:
        """All weights by name, not copied."""
        weights = {name: tensor.detach().cpu().numpy() for name, tensor in self.model.state_dict().items()}
        return {**weights, WORDS: self.words.detach().cpu().numpy()}

    def stored_arrays(self) -> dict[str, np.ndarray]:
        """The same for a file: in float16 where that changes no value, as after ``round_weights``."""
        return {name: _smallest(array) for name, array in self.arrays().items()}

    def library_arrays(self) -> dict[str, np.ndarray]:
        """All weights under the names that the library has for them, as a file of an encoder folder has them."""
        # The words stand beside the module: in the library's own they have a name like any other weight.
        inside = self.model.get_input_embeddings()
        name = next(name for name, module in self.model.named_modules() if module is inside)
        found = self.arrays()
        return {f"{name}.weight": found.pop(WORDS), **found}

    def round_weights(self) -> None:
        """Round weights to float16 (and keep them in float32), so that half of the bytes on the disk say it all.

        Arrays with values beyond the range of float16 stay as they are.
        """
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.copy_(_rounded(parameter))
        self.words = _rounded(self.words.detach())

    @property
    def width(self) -> int:
        """D."""
        return self.folder.width

    @property
    def layers(self) -> int:
        """Layers above the embeddings."""
        return self.folder.layers

    def forward(self, tokens: Padded, words: Callable[[np.ndarray], torch.Tensor] | None = None) -> States:
        """The states of every layer.

        Args:
            words: gives the embeddings of these words (rising numbers, each once) where they are learned
                (``RowTable.take``); None: as they are.
        """
        return self.upper(self.embedded(tokens, words), tokens)

    def embedded(
        self, tokens: Padded, words: Callable[[np.ndarray], torch.Tensor] | None = None
    ) -> torch.Tensor:
        """Word embeddings of the tokens [n, tokens, D]."""
        if words is None:
            if int(tokens.ids.max(initial=0)) >= len(self.words):
                raise ModelIntegrityError("the encoder's tokenizer has more words than the encoder")
            return torch.nn.functional.embedding(
                torch.from_numpy(tokens.ids).to(self.words.device), self.words
            )
        # Sorting the few thousand tokens of a batch is cheaper than a table of the whole vocabulary.
        used, place = np.unique(tokens.ids, return_inverse=True)
        rows = words(used)
        at = torch.from_numpy(place.reshape(tokens.ids.shape)).to(rows.device)
        return torch.nn.functional.embedding(at, rows)

    def upper(self, embedded: torch.Tensor, tokens: Padded) -> States:
        """The states of every layer over word embeddings."""
        return self.run(self.model, embedded, tokens)

    def run(self, model: Any, embedded: torch.Tensor, tokens: Padded) -> States:
        """The states of a module of this encoder's kind."""
        # Without padding there is nothing to mask, and attention is faster.
        whole = bool(tokens.mask.all()) and self.folder.model_type != "xlnet"
        mask = None if whole else torch.from_numpy(tokens.mask).to(embedded.device, torch.int64)
        return self.masked(model, embedded, mask)

    def masked(self, model: Any, embedded: torch.Tensor, mask: torch.Tensor | None) -> States:
        """The same with a mask, 0 where there is padding, int64 [n, tokens]; None: there is none."""
        more: dict[str, Any] = {} if mask is None else {"attention_mask": mask}
        if self.folder.model_type == "xlnet":
            assert mask is not None
            more["use_mems"] = False
            segment = torch.where(mask > 0, 0, _SEGMENT_OF_PADDING)
            more["token_type_ids"] = torch.cat(
                [segment[:, :-1], torch.full_like(segment[:, :1], _SEGMENT_OF_CLS)], dim=1
            )
        with bfloat16_products.products(), onednn_products.preferred(False):
            out = model(inputs_embeds=embedded, output_hidden_states=True, return_dict=True, **more)
        return tuple(out.hidden_states)

    def freeze(self, layers: int) -> None:
        """Keep the first ``layers`` layers (and what is below them) as they are; 0: only what is below.

        With all layers, what comes after them stays too.
        """
        learning = layers < self.layers
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_(learning and self._layer_of(name) > layers)

    @property
    def learns(self) -> bool:
        """Whether any of its layers is trained."""
        return any(parameter.requires_grad for parameter in self.model.parameters())

    def depth_of(self, name: str) -> int:
        """Layers between a parameter of the module and the output: 0 for the last layer's."""
        return self.layers - min(self.layers, self._layer_of(name.removeprefix("model.")))

    def _layer_of(self, name: str) -> int:
        """0: embeddings, and what all layers share; 1 to ``layers``: that layer; above: what comes after them."""
        parts = name.split(".")
        for kind in ("layer", "layers", "h", "block"):
            if (
                kind in parts
                and parts.index(kind) + 1 < len(parts)
                and parts[parts.index(kind) + 1].isdigit()
            ):
                return int(parts[parts.index(kind) + 1]) + 1
        # What layers share (distances in MPNet and DeBERTa, all of ALBERT) changes the lowest of them too.
        return self.layers + 1 if parts[0].startswith("final") else 0

    def _fill_buffers(self) -> None:
        """Buffers that no file keeps (numbers of positions) are made by the library where there is memory."""
        lost = [name for name, buffer in self.model.named_buffers() if buffer.is_meta]
        if not lost:
            return
        with _reading(self.folder) as library:
            config = _config(library, self.folder, 0.0)
            # The buffers are those of any model of the kind: one layer is enough to make them.
            for field in ("num_hidden_layers", "n_layer", "n_layers"):
                if hasattr(config, field):
                    setattr(config, field, 1)
            config.vocab_size = min(config.vocab_size, len(self.words))
            small = library.AutoModel.from_config(config)
        found = dict(small.named_buffers())
        for name in lost:
            module, _, last = name.rpartition(".")
            self.model.get_submodule(module).register_buffer(last, found[name], persistent=False)


def pooled_states(
    states: States, mask: torch.Tensor, layers: int, pooling: Pooling, *, last: bool
) -> torch.Tensor:
    """One vector per text of the last ``layers`` layers (all of them if there are fewer), the last one first.

    Args:
        mask: which tokens are no padding, bool [n, tokens].
        last: whether [CLS] stands behind the text.

    Shapes:
        states [n, tokens, D] each -> [n, layers * D]
    """
    chosen: Sequence[torch.Tensor] = states[1:][-layers:][::-1]
    return torch.cat([pooled_state(state, mask, pooling, last=last) for state in chosen], dim=1)


def pooled_state(state: torch.Tensor, mask: torch.Tensor, pooling: Pooling, *, last: bool) -> torch.Tensor:
    """One vector per text of one layer [n, D]; a state of one token is that vector already."""
    if state.shape[1] == 1:
        return state[:, 0]
    return state[:, -1 if last else 0] if pooling == "cls" else _masked_mean(state, mask)


def mean_states(state: torch.Tensor, tokens: Padded) -> torch.Tensor:
    """The mean of each text's tokens, padding left out [n, D]."""
    return _masked_mean(state, torch.from_numpy(tokens.mask).to(state.device))


def _masked_mean(state: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    share = mask[:, :, None].to(state.dtype)
    return (state * share).sum(1) / share.sum(1).clamp(min=1)


def _rounded(weight: torch.Tensor) -> torch.Tensor:
    half = weight.half()
    return half.to(weight.dtype) if bool(half.isfinite().all()) else weight


def _smallest(array: np.ndarray) -> np.ndarray:
    if array.dtype != np.float32:
        return array
    with np.errstate(over="ignore"):
        half = array.astype(np.float16)
    return half if bool((half == array).all()) else array


_ROOM = 2**20
_MOST_LAYERS = 1000
_HEADS = ("num_attention_heads", "n_head", "n_heads")
_NOT_SETTINGS = ("auto_map", "quantization_config", "attn_implementation", "model_type")
"""Keys of config.json that name code or kernels of others."""


def _weights(folder: EncoderFolder) -> dict[str, torch.Tensor]:
    from safetensors.torch import load

    return load(read_bytes(folder.file(WEIGHTS)))


def _config(library: Any, folder: EncoderFolder, dropout: float) -> Any:
    if not 1 <= folder.layers <= _MOST_LAYERS:
        raise UsageError(
            f"the transformer in {folder.folder} cannot be read: its settings ask for {folder.layers:,} layers"
        )
    heads = next((folder.settings[name] for name in _HEADS if name in folder.settings), 1)
    if not isinstance(heads, int) or heads < 1:
        raise UsageError(
            f"the transformer in {folder.folder} cannot be read: its settings ask for {heads!r} attention heads"
        )
    plain = {
        name: value
        for name, value in folder.settings.items()
        if name not in _NOT_SETTINGS and not name.startswith("_")
    }
    config = library.AutoConfig.for_model(folder.model_type, **plain)
    for name, value in vars(config).items():
        if "drop" in name and isinstance(value, (int, float)) and not isinstance(value, bool):
            setattr(config, name, dropout)
    return config


@contextmanager
def _reading(folder: EncoderFolder) -> Iterator[Any]:
    """The library, silent, and whatever goes wrong with it as one sentence."""
    try:
        import transformers
    except ModuleNotFoundError:
        raise MissingPackageError("transformers", extra="encoders", purpose="a pre-trained encoder") from None
    chatter: Any = transformers.utils.logging
    bars, verbosity = chatter.is_progress_bar_enabled(), chatter.get_verbosity()
    chatter.disable_progress_bar()
    chatter.set_verbosity_error()
    try:
        yield transformers
    except (UsageError, ModelIntegrityError):
        raise
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise UsageError(f"the transformer in {folder.folder} cannot be read: {reason}") from error
    finally:
        chatter.set_verbosity(verbosity)
        if bars:
            chatter.enable_progress_bar()
