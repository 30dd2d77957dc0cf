"""What limits GNN-XML: python -m benchmarks.gnnxml_limits --data DIR --documents 10000.

Its product of a cluster's and a label's probability is taken apart on validation documents. Clusters come from the
network (with fixed or trained vectors of words), from linear classifiers, or from the truth; rankers learn within
clusters or against all documents, from TF-IDF alone or with a vector of the network behind it.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import orjson
from scipy.sparse import csr_array

from benchmarks.machine import code, machine
from benchmarks.variants import METRICS, sampled
from longtail.config import from_dict, parse_overrides
from longtail.data import read_folder
from longtail.metrics.propensity import inverse_propensity, psp
from longtail.metrics.topk import precision, recall
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.solvers.classifiers import SolverConfig
from longtail.systems.gnnxml.clusters import Clusters, cluster_labels
from longtail.systems.gnnxml.config import GnnxmlConfig, RankerConfig
from longtail.systems.gnnxml.documents import DocumentGraphs
from longtail.systems.gnnxml.packing import GraphStore
from longtail.systems.gnnxml.predict import NetworkPredictor, log_probability
from longtail.systems.gnnxml.rankers import Rankers, RankerSearch, ranker_features
from longtail.systems.gnnxml.train import (
    ReadDocuments,
    hard_negatives,
    keyword_graphs,
    match,
    read_documents,
    word_vectors,
)
from longtail.text.feature_store import FeatureStore
from longtail.training.validation import scored_pairs
from longtail.types import Dataset

WEIGHTS = (0.25, 0.5, 1.0)
HARD = 12
HINGE, LOGISTIC = SolverConfig(), SolverConfig(loss="logistic")


class Experiment:
    """Inputs that all rows share; scores are tables [validation documents, labels]."""

    def __init__(self, train: Dataset, valid: Dataset, config: GnnxmlConfig) -> None:
        self.config = config
        self.rows: list[dict[str, Any]] = []
        store = FeatureStore(train.documents)
        label_texts = [text for text in train.labels.texts if text]
        features, self.X = store.fit_tfidf(config.text, config.fields, label_texts)
        self.Xv = FeatureStore(valid.documents).tfidf(features, config.fields)
        ones = np.ones(train.Y.nnz, np.float32)
        self.Y: csr_array = csr_array((ones, train.Y.indices, train.Y.indptr), shape=train.Y.shape)
        self.Yv, _ = scored_pairs(valid, self.Y.shape[1])
        self.q = inverse_propensity(train.label_counts, len(train))
        texts = store.texts(config.fields)
        self.documents = DocumentGraphs.fit(texts, config.documents, Run(), seed=config.seed)
        self.graphs = keyword_graphs(self.documents, texts, config, Run())
        self.valid_graphs = keyword_graphs(
            self.documents, valid.documents.joined(config.fields), config, Run()
        )
        self.embeddings = self.graphs.all().embeddings(self.words())
        self.clusters = cluster_labels(self.Y, self.embeddings, config.clusters, config.seed)
        self.cluster_of = self.clusters.cluster_of(self.Y.shape[1])
        self.started = time.process_time()

    def words(self) -> np.ndarray | None:
        """The projection, where words have vectors to be trained."""
        table = word_vectors(self.documents)
        return None if table is None else table.weight.numpy()

    def network(
        self, clusters: Clusters, *, trained: bool = True, rows: np.ndarray | None = None
    ) -> tuple[ReadDocuments, ReadDocuments]:
        """A network trained on some documents (None: all): what it makes of training and validation documents."""
        table = word_vectors(self.documents)
        assert table is not None
        table.frozen = not trained
        graphs, Y = self.graphs, self.Y
        if rows is not None:
            features = graphs.features[graphs.graphs.vertices(rows)]
            graphs, Y = GraphStore(graphs.graphs.take(rows), features, weighted=False), csr_array(Y[rows])
        arrays = match(graphs, Y, clusters, None, self.config, Run(), None, table).exported()
        documents = self.documents.with_words(table.weight.numpy())
        network = NetworkPredictor(arrays, self.config.network)
        one, other = (
            read_documents(store, network, documents, Run()) for store in (self.graphs, self.valid_graphs)
        )
        return one, other

    def rankers(
        self,
        solver: SolverConfig,
        negatives: int,
        read: tuple[ReadDocuments, ReadDocuments] | None = None,
        vectors: Literal["readout", "vertices", "none"] = "none",
    ) -> np.ndarray:
        """The logarithms of the labels' probabilities by rankers: of all labels, whatever the clusters."""
        config = RankerConfig(vectors=vectors, solver=solver)
        X, Xv = self.X, self.Xv
        if read is not None and vectors != "none":
            X, Xv = (
                ranker_features(x, r.readouts, r.embeddings, config)
                for x, r in zip((X, Xv), read, strict=True)
            )
        everywhere = np.zeros((len(self.graphs), len(self.clusters)), np.float32)
        scores = everywhere if read is None else read[0].scores
        hard = hard_negatives(scores, negatives) if negatives else None
        rankers = Rankers.fit(X, self.Y, self.clusters, solver, self.config.seed, Run(), hard)
        every = Candidates.from_dense(
            np.zeros((Xv.shape[0], len(self.clusters)), np.float32), len(self.clusters)
        )
        found = RankerSearch(rankers, self.clusters, X.shape[1])(Xv, every)
        table = np.full((Xv.shape[0], self.Y.shape[1]), -1e9, np.float32)
        table[found.rows, found.ids] = log_probability(found.scores, solver.loss)
        return table

    def of_clusters(self, scores: np.ndarray) -> np.ndarray:
        """The logarithm of the probability of each label's cluster."""
        known = log_probability(scores, "logistic")[:, np.maximum(self.cluster_of, 0)]
        return np.where(self.cluster_of >= 0, known, np.float32(-30))

    def row(self, name: str, scores: np.ndarray) -> None:
        """Measure and print."""
        best = Candidates.from_dense(scores, 10).top_k(10).indices
        values = [precision(best, self.Yv, 1), precision(best, self.Yv, 5)]
        values += [psp(best, self.Yv, self.q, 1), psp(best, self.Yv, self.q, 5), recall(best, self.Yv, 10)]
        metrics = {metric: round(100 * value, 2) for metric, value in zip(METRICS, values, strict=True)}
        spent = round(time.process_time() - self.started)
        self.rows.append({"row": name, "metrics": metrics, "cpu_seconds_until_here": spent})
        print(f"| {name} | {' | '.join(f'{value:.2f}' for value in metrics.values())} |", flush=True)


def measure(e: Experiment) -> None:
    """All rows, from the rankers without a network to labels as the network's clusters."""
    everyone = len(e.clusters)
    alone = e.rankers(HINGE, everyone)
    e.row("rankers without the network, all documents", alone)
    fixed, trained = e.network(e.clusters, trained=False), e.network(e.clusters)
    truth = np.where(e.clusters.of_documents(e.Yv).toarray() > 0, 9, -9).astype(np.float32)
    linear = linear_clusters(e)
    within = e.rankers(LOGISTIC, 0, fixed, "vertices")
    sources = {"fixed vectors": fixed[1].scores, "trained vectors": trained[1].scores}
    for name, scores in {**sources, "linear classifiers": linear, "the truth": truth}.items():
        e.row(f"product of the paper, clusters by {name}", within + e.of_clusters(scores))
    for weight in WEIGHTS:
        e.row(f"rankers + {weight} log cluster", alone + weight * e.of_clusters(trained[1].scores))
    e.row("rankers with the readout", e.rankers(HINGE, everyone, trained, "readout"))
    e.row("rankers with the sum of fixed vectors", e.rankers(HINGE, everyone, fixed, "vertices"))
    hard = e.rankers(HINGE, HARD, trained)
    for weight in (0.0, *WEIGHTS):
        e.row(f"{HARD} hard clusters, {weight} log cluster", hard + weight * e.of_clusters(trained[1].scores))
    e.row("rankers with out-of-fold cluster scores", e.rankers(HINGE, everyone, out_of_fold(e), "readout"))
    each = np.sort(e.clusters.order)
    labels = Clusters(np.arange(len(each) + 1, dtype=np.int64), each)
    found = np.full(alone.shape, -1e9, np.float32)
    found[:, each] = log_probability(e.network(labels)[1].scores, "logistic")
    e.row("network of labels alone", found)
    for weight in WEIGHTS:
        e.row(f"rankers + {weight} log network of labels", alone + weight * found)


def linear_clusters(e: Experiment) -> np.ndarray:
    """Scores of clusters by logistic regression on TF-IDF rows."""
    k = len(e.clusters)
    one = Clusters(np.array([0, k], np.int64), np.arange(k, dtype=np.int32))
    rankers = Rankers.fit(e.X, e.clusters.of_documents(e.Y), one, LOGISTIC, 0, Run())
    first = Candidates.from_dense(np.zeros((e.Xv.shape[0], 1), np.float32), 1)
    return RankerSearch(rankers, one, e.X.shape[1])(e.Xv, first).scores.reshape(-1, k)


def out_of_fold(e: Experiment) -> tuple[ReadDocuments, ReadDocuments]:
    """Cluster scores in the place of readouts, by networks that have not seen the document."""
    folds = np.random.default_rng(0).integers(0, 2, len(e.graphs))
    (one, valid), (other, second) = (e.network(e.clusters, rows=np.flatnonzero(folds == f)) for f in (0, 1))
    scores = np.where((folds == 0)[:, None], other.scores, one.scores)
    mean = (valid.scores + second.scores) / 2
    # The positive part: a document is the few clusters that it may belong to.
    return (
        replace(one, scores=scores, readouts=np.maximum(scores + 4, 0)),
        replace(valid, scores=mean, readouts=np.maximum(mean + 4, 0)),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gnnxml_limits", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train and valid")
    parser.add_argument("--documents", type=int, help="training documents at most, drawn at random")
    parser.add_argument("--valid-documents", type=int, help="validation documents at most, drawn at random")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting")
    parser.add_argument("--out", type=Path, help="the JSON file")
    options = parser.parse_args(arguments)
    parts = read_folder(options.data, parts=("train", "valid"))
    train, valid = (
        sampled(parts["train"], options.documents),
        sampled(parts["valid"], options.valid_documents),
    )
    config = from_dict(GnnxmlConfig, parse_overrides(options.set))
    print("| row | " + " | ".join(METRICS) + " |\n" + "|---" * (1 + len(METRICS)) + "|", flush=True)
    experiment = Experiment(train, valid, config)
    measure(experiment)
    if options.out is not None:
        facts = {"documents": len(train), "valid_documents": len(valid), "clusters": len(experiment.clusters)}
        made = {**facts, "machine": machine(), "code": code(Path(__file__).parent), "rows": experiment.rows}
        options.out.write_bytes(orjson.dumps(made, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    main()
