"""The steps of GalaXC's training, one function each: initial embeddings, Modules I to IV, folding."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from longtail.graph.label_graph import heads, label_graph
from longtail.run import Run
from longtail.shortlist.ann import AnnIndex
from longtail.systems.common.fusion import groups_of
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.rows import Rows
from longtail.systems.common.validation import Held, figures_of
from longtail.systems.eclare import modules as eclare
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.config import StagesConfig as EclareStages
from longtail.systems.eclare.inputs import Inputs
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.folded import Folded, label_keys
from longtail.systems.galaxc.initial import Initial, encoded, given
from longtail.systems.galaxc.neighbourhoods import Neighbourhoods
from longtail.systems.galaxc.network import Network
from longtail.systems.galaxc.space import Space, first_of
from longtail.systems.galaxc.surrogate import surrogate_tokens
from longtail.systems.galaxc.task import Learn, Look, trust_of
from longtail.systems.galaxc.weights import EVIDENCE, Weights
from longtail.training.checkpoint import Checkpoints
from longtail.training.rows import RowTable
from longtail.training.surroundings import torch_threads
from longtail.training.trainer import train
from longtail.types import Dataset

AT_ONCE = 4096
"""Labels or documents that are embedded in one go: bounds memory."""

HARD_KEPT = 100
"""Hard negatives that are kept of a shortlist."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """What all steps share."""

    config: GalaxcConfig
    train: Dataset
    rows: Rows
    run: Run
    checkpoints: Checkpoints | None = None

    @property
    def width(self) -> int:
        """D of token embeddings."""
        return self.config.width or 300

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.rows.Y.shape[1])


# --- initial embeddings ---------------------------------------------------------------------------------------


def initial(course: Course) -> Initial:
    """How texts or rows become initial embeddings, learnt if the source is."""
    config = course.config
    source = config.initial.source
    if source == "given":
        return given(course.rows)
    if source == "encoder":
        return encoded(course.rows, config)
    if source == "surrogate":
        return Initial(surrogate_tokens(course.rows, course.width, config, course.run, course.checkpoints))
    return Initial(eclare_tokens(course))


def eclare_tokens(course: Course) -> np.ndarray:
    """The token embeddings that ECLARE's Modules I and IV learn [columns, D]."""
    config, rows = course.config, course.rows
    stages = EclareStages(embed=config.initial.embed, rank=config.initial.rank)
    settings = EclareConfig(text=config.text, width=course.width, seed=config.seed, stages=stages)
    graph = settings.graph
    with course.run.phase("label graph"):
        G = label_graph(rows.Y, head_above=graph.head_above, keep=graph.keep, seed=config.seed)
    inputs = Inputs(rows.features, rows.X, rows.Y, rows.Z, G, heads(rows.Y, graph.head_above), rows.own)
    steps = eclare.Course(settings, inputs, None, 0, course.run, course.checkpoints)
    embedded = eclare.embed(steps)
    steps = replace(steps, inputs=replace(inputs, G=eclare.pruned_graph(steps, embedded.tokens)))
    return np.asarray(eclare.rank(steps, embedded, None).tokens.weight.numpy())


def label_texts_of(train: Dataset) -> list[str]:
    """What an encoder reads of labels: their texts, or their ids where there is none."""
    return [text or id_ for text, id_ in zip(train.labels.texts, train.labels.ids, strict=True)]


# --- Module I: convolutions, transformations, attention, classifiers --------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """What training leaves: the network and its tables."""

    network: Network
    free: RowTable
    logits: RowTable


def untrained(course: Course, width: int) -> Learnt:
    """Weights at their start; they depend on the seed alone (Sec. 4.1)."""
    config = course.config
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        network = Network(width, config)
    rng = np.random.default_rng(config.seed)
    n_labels, resolutions = course.n_labels, config.graph.resolutions
    free = np.zeros((n_labels, width), np.float32)
    if not config.classifier.node:
        free = (rng.random((n_labels, width), np.float32) * 2 - 1) / np.float32(np.sqrt(width))
    spread = np.float32(config.classifier.attention_start / config.classifier.attention_rate)
    logits = rng.standard_normal((n_labels, resolutions), np.float32) * spread
    return Learnt(network, RowTable(free), RowTable(logits))


def neighbourhoods(course: Course, space: Space, documents: np.ndarray) -> Neighbourhoods:
    """What training documents can see: links that came with the data, then what is near."""
    config, graph = course.config, course.config.graph
    nodes = np.arange(len(documents))
    with course.run.phase("neighbours"):
        near, _ = space.near(documents, graph.links, nodes)
        if course.train.edges is not None and graph.auxiliary == "train":
            ids, labels = course.train.documents.ids, course.train.labels.ids
            near = first_of(
                graph.links, space.links(course.train.edges, labels).table(ids, graph.links), near
            )
    return Neighbourhoods(near, course.rows.Y, space.graph.node_of_label, config.neighbourhood)


def learn(
    course: Course,
    space: Space,
    documents: np.ndarray,
    around: Neighbourhoods,
    learnt: Learnt,
    held: tuple[Held, np.ndarray, np.ndarray] | None,
    hard: np.ndarray | None,
) -> None:
    """Module I (no hard negatives) or IV: train in place.

    Args:
        held: validation documents, their initial embeddings and their neighbours.
    """
    config = course.config

    def validation() -> dict[str, float] | None:
        if held is None:
            return None
        some, vectors, lists = held
        look = Look(learnt.network, space, config.graph.fanouts, config.seed)
        classifiers, attention, _ = fold_labels(course, space, learnt, samples=1)
        with torch.no_grad():
            seen = look.documents(lists, vectors, learnt.free.weight.device)
            x = learnt.network.documents(seen).cpu().numpy()
        weighed = attention * np.float32(attention.shape[1])

        def scored(rows: slice) -> np.ndarray:
            total = np.zeros((len(x[rows]), len(classifiers)), np.float32)
            for k in range(x.shape[1]):
                part = x[rows, k] @ classifiers.T
                part *= weighed[:, k]
                total += part
            return total

        return figures_of(scored, some)

    task = Learn(
        learnt.network,
        learnt.free,
        learnt.logits,
        space,
        documents,
        around,
        course.rows.Y,
        course.rows.own,
        hard,
        config,
        validation,
    )
    stage, settings = ("joint", config.stages.joint) if hard is None else ("refine", config.stages.refine)
    train(task, settings, stage=stage, seed=config.seed, run=course.run, checkpoints=course.checkpoints)


# --- Module II: hard negatives ------------------------------------------------------------------------------------


def hard_negatives(
    course: Course, folded: Folded, documents: np.ndarray, around: Neighbourhoods
) -> np.ndarray:
    """Wrong labels of each document's shortlist [documents, m], -1 padded."""
    out = np.full((len(documents), HARD_KEPT), -1, np.int32)
    Y, own = course.rows.Y, course.rows.own
    with course.run.phase("negatives", total=len(out)) as phase:
        for start in range(0, len(out), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            seen = folded.seen(documents[rows], around.near[rows])
            found = folded.nearest_labels(seen).top_k(HARD_KEPT + 20).labels
            out[rows] = eclare.without(found, Y[rows], own[rows])[:, :HARD_KEPT]
            phase.advance(len(found))
    return out


# --- folding ------------------------------------------------------------------------------------------------------


@torch.no_grad()
def fold_labels(
    course: Course, space: Space, learnt: Learnt, samples: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classifiers [L, D], attention [L, K], and embeddings [L, D] that labels can be found by."""
    config, network = course.config, learnt.network
    was_training = network.training
    network.eval()
    look = Look(network, space, config.graph.fanouts, config.seed)
    counts = np.bincount(course.rows.Y.indices, minlength=course.n_labels)
    device = learnt.free.weight.device
    classifiers = (learnt.free.weight.cpu() * trust_of(counts, config.classifier.shrink)).numpy()
    embedding = np.empty_like(classifiers)
    raw = config.shortlist.embedding == "raw"
    for start in range(0, course.n_labels, AT_ONCE):
        some = np.arange(start, min(start + AT_ONCE, course.n_labels))
        resolutions = look.labels(some, device, samples)
        if network.labels is not None:
            part = network.node_part(resolutions).cpu().numpy()
            classifiers[some] += part
            embedding[some] = resolutions.mean(dim=1).cpu().numpy() if raw else part
        else:
            mean = (resolutions if raw else network.documents(resolutions)).mean(dim=1)
            embedding[some] = mean.cpu().numpy()
    resolutions_count = config.graph.resolutions
    if network.attends:
        attention = network.attention(learnt.logits.weight).cpu().numpy()
    else:
        attention = np.full((course.n_labels, resolutions_count), 1 / resolutions_count, np.float32)
    network.train(was_training)
    return classifiers, np.ascontiguousarray(attention), embedding


def fold(course: Course, space: Space, learnt: Learnt) -> Folded:
    """Everything that does not depend on a new document, computed once."""
    config, network = course.config, learnt.network
    with course.run.phase("fold"), torch_threads():
        classifiers, attention, embedding = fold_labels(course, space, learnt, config.graph.samples)
        transform, shift = (part.numpy() for part in network.documents.folded())
        keys = label_keys(embedding, classifiers, config.shortlist.embedding)
        index = AnnIndex.build(keys, run=course.run)
        graph, known = space.graph, space.labels_of
        hops = len(config.graph.fanouts)
        eps = np.zeros(hops, np.float32)
        layered = None
        if network.convolution is not None:
            eps = network.convolution.eps.detach().numpy().copy()
        if network.layered is not None:
            layered = network.layered.arrays()
        nothing = np.zeros((0, len(EVIDENCE)), np.float32)
        weights = Weights(
            transform=np.ascontiguousarray(transform),
            shift=np.ascontiguousarray(shift),
            eps=eps,
            classifiers=classifiers,
            attention=attention,
            bias=network.bias.detach().numpy().reshape(1).copy(),
            node_of_document=graph.node_of_document.astype(np.int32),
            node_of_label=graph.node_of_label.astype(np.int32),
            graph_indptr=graph.indptr.astype(np.int64),
            graph_indices=graph.indices.astype(np.int32),
            graph_own=graph.own.astype(np.uint8),
            known_indptr=known.indptr.astype(np.int64),
            known_indices=known.indices.astype(np.int32),
            fusion_weights=nothing,
            fusion_start=np.zeros(0, np.float32),
            warm_weights=nothing,
            warm_start=np.zeros(0, np.float32),
            known_weights=nothing,
            known_start=np.zeros(0, np.float32),
            group=groups_of(np.bincount(course.rows.Y.indices, minlength=course.n_labels)),
        )
        texts = LabelTexts(course.rows.Z, course.n_labels)
    return Folded(weights, space, index, texts, config, layered)
