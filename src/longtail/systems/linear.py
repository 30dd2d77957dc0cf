"""The linear label tree: Parabel (WWW 2018), Bonsai (ML 2020), XR-Linear (PECOS, JMLR 2022).

Labels that share documents share a branch; at each node linear classifiers say which children a document
belongs to; a beam search follows the best few. Fast to train, fast to ask, and the baseline of every table.
If wanted, scores then flow along a graph of label correlations (GAME of ECLARE, WWW 2021).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal, cast

import numpy as np
from scipy.sparse import csr_array, vstack

from longtail.cluster.label_tree import build_label_tree, label_centroids, unit_rows
from longtail.errors import ConfigError, ModelIntegrityError, UsageError
from longtail.graph.label_graph import label_graph
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.game import Game
from longtail.shortlist.tree_average import average_answers
from longtail.shortlist.tree_cost import with_cost
from longtail.shortlist.tree_search import TreeSearch
from longtail.shortlist.tree_training import train_tree
from longtail.shortlist.tree_weights import TreeWeights
from longtail.solvers.classifiers import USUAL_PRUNE, SolverConfig
from longtail.storage import VerifiedFolder, checks, read_arrays, read_json, write_arrays, write_json
from longtail.systems.base import Capabilities, System, SystemConfig
from longtail.text.config import TextConfig
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, TopK

AVERAGED = 50
"""Labels a tree that are averaged at least, when there are several trees."""
SHORT_ROW = 200
"""Documents that have at most so many features on average are short."""
SHORT_MEMBERS, SHORT_PRUNE = 2, 0.08
"""By default, short documents have two trees, since they are cheap, and weights that are pruned more."""
GRAPH_FILE = "graph.safetensors"
GRAPH_ARRAYS = {"indptr": np.int64, "indices": np.int32, "data": np.float32}


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeConfig:
    """The shape of the label tree."""

    leaf_size: int = 200
    """Labels in a leaf cluster: about so many on average, or at most so many if balanced."""
    arity: int = 512
    """Children that an inner node should have at most: wide trees are shallow, and make fewer mistakes."""
    balanced: bool = False
    """Whether clusters have equal sizes (halves of halves) or those that k-means finds, which is more accurate."""
    members: int | Literal["auto"] = "auto"
    """Trees over different random starts whose scores are averaged; auto: two if documents are short, else one."""

    def __post_init__(self) -> None:
        if not 1 <= self.leaf_size <= 32768:
            raise ConfigError(f"'leaf_size' must be from 1 to 32768, not {self.leaf_size}")
        if not 2 <= self.arity <= 32768:
            raise ConfigError(f"'arity' must be from 2 to 32768, not {self.arity}")
        if self.members != "auto" and self.members < 1:
            raise ConfigError(f"'members' must be at least 1, not {self.members}")


@dataclass(frozen=True, kw_only=True, slots=True)
class GameConfig:
    """How scores flow between labels that go together in the training documents."""

    mix: float = 0.0
    """The share of a score that comes from correlated labels: 0 is the tree alone, 1 is ECLARE's GAME."""
    candidates: int = 50
    """The tree's best labels that hand on their scores (those asked for, if they are more)."""
    length: int = 400
    """Steps of the random walk from a label that finds those it goes with."""
    restart: float = 0.8
    """Chance that a step of the walk begins at its own label again."""
    keep: int = 10
    """Labels that a label goes with at most."""
    head_above: int = 500
    """Labels of more documents than this keep their scores to themselves."""

    def __post_init__(self) -> None:
        for name in ("mix", "restart"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"'{name}' must be from 0 to 1, not {getattr(self, name)}")
        for name in ("candidates", "length", "keep", "head_above"):
            if getattr(self, name) < 1:
                raise ConfigError(f"'{name}' must be at least 1, not {getattr(self, name)}")


class LinearTree(System):
    """Trains in seconds to minutes on a laptop, on texts or on a plain sparse matrix."""

    name: ClassVar[str] = "linear"
    capabilities: ClassVar[Capabilities] = Capabilities(features=True, label_text=True)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(SystemConfig):
        """Settings of the linear label tree."""

        text: TextConfig = field(
            default_factory=lambda: TextConfig(
                ngrams=(1, 2), char_ngrams="auto", sublinear_tf=True, max_features=500_000
            )
        )
        """How texts become features."""
        normalise: bool = True
        """Scale the rows of a feature matrix that the user brings to length one."""
        label_text: Literal["none", "example"] = "none"
        """example: each label's text is a training document of that label, so that rare labels learn from their
        names and labels without documents can be predicted."""
        tree: TreeConfig = field(default_factory=TreeConfig)
        """The shape of the tree."""
        solver: SolverConfig = field(default_factory=SolverConfig)
        """How the classifiers are trained; with the logistic loss, scores are probabilities."""
        beam: int = 5
        """Nodes of a level that are followed."""
        game: GameConfig = field(default_factory=GameConfig)
        """How scores flow between labels that go together."""

        def __post_init__(self) -> None:
            SystemConfig.__post_init__(self)
            if self.beam < 1:
                raise ConfigError(f"'beam' must be at least 1, not {self.beam}")

    config: Config
    features_: TfidfFeatures | None
    width_: int
    trees_: list[TreeSearch]
    graph_: csr_array | None

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run) -> None:
        with run.phase("features"):
            X, Y = self._training_matrices(train)
        tree_config = self.config.tree
        self.trees_ = []
        with run.phase("tree"):
            short = X.nnz <= SHORT_ROW * X.shape[0]
            solver = self._solver(X, Y, short)
            centroids = label_centroids(X, Y)
        for member in range(self._members(short, Y.shape[1])):
            seed = self.config.seed + member
            with run.phase("tree"):
                tree = build_label_tree(
                    centroids,
                    leaf_size=tree_config.leaf_size,
                    arity=tree_config.arity,
                    seed=seed,
                    balanced=tree_config.balanced,
                )
            children = sum(int(level[-1]) for level in tree.children)
            with run.phase("classifiers", total=children) as phase:
                self.trees_.append(TreeSearch(train_tree(tree, X, Y, solver, seed, phase)))
        self._use_graph(self._correlations(train.Y, run))
        unseen = int((train.label_counts == 0).sum())
        if unseen and self.config.label_text == "none":
            run.say(f"{unseen} labels have no training document and will never be predicted")

    def _correlations(self, Y: csr_array, run: Run) -> csr_array | None:
        game = self.config.game
        if not game.mix:
            return None
        with run.phase("graph"):
            return label_graph(
                Y,
                head_above=game.head_above,
                length=game.length,
                restart=game.restart,
                keep=game.keep,
                seed=self.config.seed,
            )

    def _use_graph(self, graph: csr_array | None) -> None:
        self.graph_ = graph
        self._game = None if graph is None else Game(graph)

    def _members(self, short: bool, n_labels: int) -> int:
        members = self.config.tree.members
        if members != "auto":
            return members
        # Without clusters to find, all trees are the same.
        return SHORT_MEMBERS if short and n_labels > self.config.tree.leaf_size else 1

    def _solver(self, X: csr_array, Y: csr_array, short: bool) -> SolverConfig:
        solver = self.config.solver
        if solver.prune == "auto":
            solver = replace(solver, prune=SHORT_PRUNE if short else USUAL_PRUNE)
        leaf_size, seed = self.config.tree.leaf_size, self.config.seed
        return with_cost(solver, X, Y, leaf_size=leaf_size, link=self._link, seed=seed)

    def _training_matrices(self, train: Dataset) -> tuple[csr_array, csr_array]:
        """Features and labels; with label texts as examples, one more row a label that has a text."""
        if train.documents.features is not None:
            self.features_ = None
            self.width_ = train.documents.features.shape[1]
            return self._transform(train.documents), train.Y
        self.features_ = TfidfFeatures(self.config.text)
        texts = train.documents.joined(self.config.fields)
        named = [i for i, text in enumerate(train.labels.texts) if text]
        if self.config.label_text == "none" or not named:
            X, Y = self.features_.fit_transform(texts), train.Y
        else:
            X = self.features_.fit_transform([*texts, *(train.labels.texts[i] for i in named)])
            own = (np.ones(len(named), np.float32), np.array(named), np.arange(len(named) + 1))
            Y = csr_array(
                vstack([train.Y, csr_array(own, shape=(len(named), len(train.labels)))], format="csr")
            )
        self.width_ = X.shape[1]
        return X, Y

    def _transform(self, documents: Documents) -> csr_array:
        if self.features_ is not None:
            return self.features_.transform(documents.joined(self.config.fields))
        X = cast(csr_array, documents.features)
        return unit_rows(X) if self.config.normalise else X

    def _check_documents(self, documents: Documents) -> None:
        super()._check_documents(documents)
        if self.features_ is not None:
            if documents.features is not None:
                raise UsageError("this model was trained on texts: give it texts, not a feature matrix")
        elif documents.features is None:
            raise UsageError(
                "this model was trained on a feature matrix: give it rows of features, not texts"
            )
        elif documents.features.shape[1] != self.width_:
            width = documents.features.shape[1]
            raise UsageError(
                f"the feature matrix has {width} columns, the model was trained on {self.width_}"
            )

    def _predict_batch(self, documents: Documents, k: int) -> TopK:
        X = self._transform(documents)
        if self._game is None:
            return self._search(X, k)
        # As many labels hand on their scores whatever k is, or the answer would depend on it.
        found = self._search(X, max(k, self.config.game.candidates))
        candidates = Candidates.from_padded(found.labels, found.scores)
        return self._game(candidates, mix=self.config.game.mix, keep=k).top_k(k)

    def _search(self, X: csr_array, k: int) -> TopK:
        """What the trees say."""
        # Trees are averaged over more candidates than are asked for, or the answer would depend on k.
        depth = k if len(self.trees_) == 1 else max(k, AVERAGED)
        found = []
        for tree in self.trees_:
            labels, scores = tree.top_k(X, depth, beam=self.config.beam, link=self._link)
            found.append((labels, np.exp(scores)))
        return TopK(*(found[0] if len(found) == 1 else average_answers(found, k, len(self.labels_))))

    @property
    def _link(self) -> str:
        return "logistic" if self.config.solver.loss == "logistic" else "cubed_hinge"

    def _save_parts(self, folder: Path) -> None:
        trained_on = {
            "text": self.features_ is not None,
            "width": self.width_,
            "trees": len(self.trees_),
        }
        write_json(folder / "linear.json", trained_on)
        if self.features_ is not None:
            (folder / "features").mkdir()
            self.features_.save(folder / "features")
        for number, tree in enumerate(self.trees_):
            write_arrays(folder / f"tree-{number}.safetensors", tree.weights.arrays())
        if self.graph_ is not None:
            arrays = {name: getattr(self.graph_, name).astype(kind) for name, kind in GRAPH_ARRAYS.items()}
            write_arrays(folder / GRAPH_FILE, arrays)

    def _load_parts(self, folder: VerifiedFolder) -> None:
        trained_on = read_json(folder.path("linear.json"))
        self.width_ = int(trained_on["width"])
        text = folder.sub("features")
        self.features_ = None if text is None else TfidfFeatures.load(text)
        known = self.width_ if self.features_ is None else self.features_.n_columns
        if trained_on["text"] is not (self.features_ is not None) or known != self.width_:
            raise ModelIntegrityError(f"{folder.root}: the text features are not those of this model")
        self.trees_ = []
        members = self.config.tree.members
        n_trees = trained_on.get("trees") if members == "auto" else members
        if not isinstance(n_trees, int) or n_trees < 1:
            raise ModelIntegrityError(f"{folder.root}: {n_trees!r} is not a number of trees")
        for number in range(n_trees):
            path = folder.path(f"tree-{number}.safetensors")
            weights = TreeWeights.load(path, n_features=self.width_, n_labels=len(self.labels_))
            self.trees_.append(TreeSearch(weights))
        mixed = self.config.game.mix > 0
        self._use_graph(_read_graph(folder.path(GRAPH_FILE), len(self.labels_)) if mixed else None)


def _read_graph(path: Path, n_labels: int) -> csr_array:
    """A saved graph, checked so that no kernel can be led astray by it."""
    arrays = read_arrays(path)
    with checks.of_file(path):
        indptr, indices, data = (
            checks.vector(checks.named(arrays, name, f"the graph's {name}"), kind, f"the graph's {name}")
            for name, kind in GRAPH_ARRAYS.items()
        )
        checks.pointers(indptr, len(data), "the graph's indptr", rows=n_labels)
        checks.vector(indices, np.int32, "the graph's indices", size=len(data))
        checks.within(indices, 0, n_labels, "the graph's indices")
        if checks.finite(data, "the graph's data").min(initial=0) < 0:
            raise ModelIntegrityError("the graph's data must not be negative")
    return csr_array((data, indices, indptr), shape=(n_labels, n_labels))
