"""examples/SYSTEM-paper.toml is the paper to the letter: each value beside the place where the paper states it.

A setting of a file is stated by the paper, or it is in ``NOT_STATED`` and the file says so.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from longtail import threads
from longtail.cli.settings_table import settings_of
from longtail.config import merge, parse_overrides, read_toml, to_dict
from longtail.systems import create
from longtail.training.schedule import rate_factor
from longtail.training.train_config import TrainConfig
from tests.planted import Parts
from tests.tiny_encoders import write_syllables

EXAMPLES = Path(__file__).parents[2] / "examples"

Stated = dict[str, tuple[Any, str]]
"""Dotted name of a setting -> the paper's value and where it is stated."""

ECLARE: Stated = {
    "text.kind": ("wordpiece", "Sec. 4: the word piece tokenizer"),
    "text.wordpiece_vocab_size": (40_000, "Table 1: tokens V of the two smaller data sets"),
    "text.sublinear_tf": (False, "Sec. 3, Notation: the TF-IDF weight of a token"),
    "width": (None, "Sec. 4: 300 below 400K labels and 512 otherwise"),
    "dropout": (0.2, "Sec. 3.6 and 4: 20%"),
    "meta_loss": ("bce", "Sec. 3.6: binary cross entropy in Modules I, II and IV"),
    "rank_loss": ("bce", "Sec. 3.6: binary cross entropy in Modules I, II and IV"),
    "tail_weight": (0.0, "Sec. 3.6: all positive labels count alike"),
    "embed_on": ("clusters", "Sec. 3.6, Module I: each cluster is treated as a meta-label"),
    "tokens": ("frozen", "Sec. 3.6: E remains frozen after Module I"),
    "score": ("product", "Sec. 3.5, step 3: s = r p"),
    "graph.kind": ("walk", "Sec. 3.2, Algorithm 1"),
    "graph.normalisation": ("symmetric", "Sec. 3.2: A^-1/2 G B^-1/2"),
    "graph.length": (400, "Sec. 3.2 and 4: walk length"),
    "graph.restart": (0.8, "Sec. 3.2 and 4: restart probability"),
    "graph.head_above": (500, "Sec. 3.2: head labels have > 500 training points"),
    "graph.keep": (400, "Sec. 3.2: no edge is dropped, and 400 steps visit 400 labels at most"),
    "graph.max_distance": (None, "Sec. 3.2: no edge is dropped"),
    "classifier.lte": (True, "Sec. 3.3, LTE"),
    "classifier.gale": ("block", "Sec. 3.3, GALE: an embedding block"),
    "classifier.order": (1, "Sec. 3.3: k = 1"),
    "classifier.refinement": (True, "Sec. 3.3: a refinement vector per label"),
    "classifier.combine": ("attention", "Sec. 3.3: the attention block"),
    "classifier.initialise": ("graph", "Sec. 3.6, Module III: G E z"),
    "classifier.shrinkage": (0.0, "Sec. 3.3: the refinement vector itself"),
    "classifier.max_terms": (40_000, "Sec. 3.3: all terms of a text"),
    "shortlist.exact_below": (0, "Sec. 3.4: always clusters"),
    "shortlist.clusters": (None, "Sec. 4: by the number of labels"),
    "shortlist.labels_per_cluster": (4, "Sec. 4 and Table 1: 2^15 clusters of 131,073 labels"),
    "shortlist.clustering": ("graph", "Sec. 3.6: graph augmented label centroids"),
    "shortlist.nearest": (0, "Sec. 3.4: labels of the clusters alone"),
    "shortlist.beam": (50, "Sec. 4: 50 for all data sets but LF-AmazonTitles-131K"),
    "game.clusters": (True, "Sec. 3.4, step 2"),
    "game.negatives": (True, "Sec. 3.6, Module II: GAME to obtain negative samples"),
    "game.labels": (True, "Sec. 3.5, step 3: r = G r~"),
    "game.mix": (1.0, "Sec. 3.4, 3.5: p = G p~"),
    "negatives.source": ("shortlist", "Sec. 3.6, Module IV"),
    "negatives.scope": ("document", "Sec. 3.6: shortlisted negatives for each data point"),
    "negatives.hard": (300, "Sec. 3.4, 3.6: the whole shortlist, at most 50 clusters of 6 labels"),
    "negatives.kept": (300, "Sec. 3.4, 3.6: the whole shortlist, at most 50 clusters of 6 labels"),
    "negatives.random": (0, "Sec. 3.6, Module IV: positives and shortlisted negatives"),
    "negatives.random_clusters": (10_000_000, "Sec. 3.6, Modules I and II: all clusters"),
    "negatives.corrected": (False, "Sec. 3.6: plain binary cross entropy"),
    "stages.embed.epochs": (20, "Sec. 4: Module I"),
    "stages.embed.lr": (0.01, "Sec. 4: Module I"),
    "stages.shortlist.epochs": (10, "Sec. 4: Modules II and IV"),
    "stages.shortlist.lr": (0.008, "Sec. 4: Modules II and IV"),
    "stages.rank.epochs": (10, "Sec. 4: Modules II and IV"),
    "stages.rank.lr": (0.008, "Sec. 4: Modules II and IV"),
    **{
        f"stages.{stage}.{name}": value
        for stage in ("embed", "shortlist", "rank")
        for name, value in {
            "batch_size": (255, "Sec. 4"),
            "optimiser": ("adam", "Sec. 3.6 and 4"),
            "schedule": ("step", "Sec. 4: decayed by 0.5 after an interval of 0.5 x epoch length"),
            "decay_at": ((0.5, 0.75), "Sec. 4: decayed by 0.5 after an interval of 0.5 x epoch length"),
        }.items()
    },
}

GALAXC: Stated = {
    "loss": ("bce", "Sec. 4.1: binary cross entropy"),
    "tail_weight": (0.0, "Sec. 4.1: all positive labels count alike"),
    "score": ("classifier", "Sec. 4: the shortlist is ranked by the classifiers"),
    "width": (300, "Table 3: 300-dimensional embeddings of Astec"),
    "text.sublinear_tf": (False, "Sec. 4.1: the TF-IDF weight of a token"),
    "initial.source": ("surrogate", "Table 3: Astec's surrogate task"),
    "graph.encoder": ("galaxc", "Sec. 4, Fig. 1"),
    "graph.fanouts": ((4, 3, 2), "Table 3; Sec. 5: K = 3"),
    "graph.include_initial": (False, "Sec. 4: resolutions k in [K]"),
    "graph.neighbours": (4, "Sec. 4 and 5: edges to its 4 nearest neighbors"),
    "graph.samples": (1, "Sec. 4: a random set of neighbours per node"),
    "graph.head_above": (None, "Sec. 5: for LF-AmazonTitles-1.3M alone"),
    "graph.head_keep": (5, "Sec. 5: the top 5 neighbors for head labels"),
    "graph.transductive": (True, "Sec. 5, Evaluation: connections among test points"),
    "neighbourhood.near": (0.0, "Sec. 4, Fig. 2: a document aggregates its own labels"),
    "neighbourhood.mask_positive": (0.0, "Sec. 4, Fig. 2: a document aggregates its own labels"),
    "neighbourhood.visible_in_loss": (True, "Sec. 4.1: the loss has all positive labels"),
    "neighbourhood.leave_out": (False, "Sec. 4: classifiers are free vectors, no neighbours are in them"),
    "neighbourhood.fill": (False, "Sec. 4: only new documents are joined with nearest nodes"),
    "transform.unit": (False, "Sec. 4: T(a)"),
    "transform.batch_norm": (True, "Sec. 4, Fig. 1"),
    "transform.dropout": (0.5, "Sec. 4.1 and Table 3"),
    "classifier.attention": (True, "Sec. 4: label-wise attention"),
    "classifier.attention_init_scale": (1.0, "Sec. 4.1: N(0, 1)"),
    "classifier.attention_rate": (1.0, "Table 3: one learning rate"),
    "classifier.node": (False, "Sec. 4: s = <w, x>"),
    "classifier.shrinkage": (0.0, "Sec. 4: s = <w, x>"),
    "negatives.random": (None, "Sec. 5: 0.1 L, a minimum of 30K and a maximum of 100K"),
    "negatives.corrected": (False, "Sec. 4.1: plain binary cross entropy"),
    "negatives.hard": (0, "Table 3: 0 epochs of Module IV"),
    "shortlist.size": (500, "Sec. 4: the top 500 neighbors"),
    "shortlist.embedding": ("transformed", "Sec. 4: averaged multi-resolution embeddings"),
    "shortlist.voters": (0, "Sec. 4: the neighbors alone"),
    "stages.joint.epochs": (30, "Table 3"),
    "stages.joint.batch_size": (256, "Table 3"),
    "stages.joint.lr": (0.001, "Table 3"),
    "stages.joint.optimiser": ("adam", "Sec. 4.1"),
    "stages.joint.schedule": ("step", "Table 3: DLR factor 0.5"),
    "stages.joint.decay_at": (tuple(epoch / 30 for epoch in (5, 10, 15, 20, 25, 28)), "Table 3: LR schedule"),
}

GNNXML: Stated = {
    "documents.encoder": ("bert-base-uncased", "Sec. 3.1 and 4.2: BERT-base"),
    "network.branches": (2, "Sec. 3.1: two branches"),
    "network.concatenate": (True, "Sec. 3.1, Eq. 5"),
    "network.eps": (0.0, "Sec. 4.2: the parameter in Eq. 4 is set to 0"),
    "network.learn_eps": (False, "Sec. 4.2: the parameter in Eq. 4 is set to 0"),
    "network.edge_weights": (False, "Sec. 3.1, Eq. 4"),
    "clusters.method": ("graph", "Sec. 3.2: label graph clustering"),
    "clusters.features": ("embedding", "Sec. 3.2 and 4.4: BERT embeddings"),
    "clusters.number": (None, "Sec. 4.4: K around L / 60"),
    "clusters.largest": (32768, "Sec. 4.3: no constraints of partitions (the greatest that can be set)"),
    "clusters.order": (3, "Sec. 4.2: the order k in Eq. 9"),
    "clusters.fewest": (1, "Sec. 3.2, Eq. 8"),
    "ranker.negatives": (0, "Sec. 3: a label's classifier belongs to its cluster"),
    "ranker.cluster_weight": (1.0, "Sec. 3, Eq. 2"),
    "ranker.solver.loss": ("logistic", "Sec. 4.2: logistic regression"),
    "match.optimiser": ("radam", "Sec. 4.2"),
    "match.lr": (0.01, "Sec. 4.2"),
    "match.warmup": (0.1, "Sec. 4.2: warm-up proportion"),
    "match.patience": (10, "Sec. 4.2: validation loss does not decrease for 10 epochs"),
    "match.watch": ("-loss", "Sec. 4.2: validation loss"),
}

XGRANK: Stated = {
    "loss": ("grank", "Sec. III.C"),
    "rank_share": (0.5, "Sec. III.F, Eq. 9: lambda = 0.5 e / E"),
    "rank_start": (0.0, "Sec. III.F, Eq. 9: lambda = 0.5 e / E"),
    "head_rate": (1.0, "Sec. IV.A: one learning rate"),
    "encoder.names": (("bert-base-uncased", "roberta-base", "xlnet-base-cased"), "Sec. IV.A"),
    "encoder.tokens": (512, "Table II: L_t"),
    "encoder.layers": (5, "Sec. III.B: the last five layers"),
    "encoder.pooling": ("cls", "Sec. III.B: hidden states of [CLS]"),
    "encoder.pretrain": (0, "Sec. III.F: trained on both tasks alone"),
    "encoder.standardise": (False, "Sec. III.B: the hidden states themselves"),
    "encoder.frozen": (None, "Sec. III.F: end-to-end"),
    "encoder.layer_decay": (1.0, "Sec. IV.A: one learning rate"),
    "clusters.size": (1, "Table II: C"),
    "clusters.nearest": (0, "Sec. III.D: labels of the retrieved clusters alone"),
    "clusters.beam": (32, "Table II: K_c of the data sets with clusters"),
    "clusters.training_beam": (32, "Table II: K_c of the data sets with clusters"),
    "clusters.clusterings": (1, "Sec. IV.A: three clusterings for large-scale data alone"),
    "labels.width": (512, "Table II: d"),
    "labels.text": (True, "Sec. III.E"),
    "labels.weights": ("mean", "Sec. III.E: embed and average"),
    "labels.bag": (False, "Sec. III.B, III.E: the document is read by the encoder alone"),
    "labels.encoded": (False, "Sec. III.E: text and identity embedding alone"),
    "labels.shrinkage": (0.0, "Sec. III.E: the identity embedding itself"),
    "negatives.scope": ("document", "Sec. III.E, Eq. 8: the retrieved labels of the document"),
    "negatives.most": (None, "Sec. III.E, Eq. 8: all retrieved labels"),
    "train.epochs": (50, "Table II: E"),
    "train.batch_size": (32, "Table II: B"),
    "train.optimiser": ("adam", "Sec. IV.A: AdamW"),
    "train.lr": (1e-4, "Sec. IV.A"),
    "train.row_lr": (None, "Sec. IV.A: one learning rate"),
    "train.warmup": (0.1, "Sec. IV.A: warm-up proportion"),
}

GUDN: Stated = {
    "loss": ("bce", "Sec. 3.3 and 3.4, Eq. 3 and 5"),
    "width": (None, "Sec. 3.4: a fully connected layer"),
    "encoder.name": ("bert-base-uncased", "Sec. 3.2: BERT of 12 layers and 768 hidden dimensions"),
    "encoder.frozen": (None, "Sec. 3.3, 4.5: BERT is fine-tuned"),
    "encoder.tokens": (512, "Sec. 4.2: the length of the input texts"),
    "encoder.layers": (10, "Sec. 3.2: the last ten layers"),
    "encoder.pooling": ("cls", "Sec. 3.2: [CLS] tokens"),
    "encoder.feature_dropout": (0.5, "Sec. 3.2: high dropout rates as LightXML"),
    "guide.feature": (True, "Sec. 3.3, Eq. 4"),
    "guide.link": (True, "Sec. 3.3, Eq. 4"),
    "guide.labels": ("text", "Sec. 3.2: raw label semantics"),
    "guide.tokens": (512, "Sec. 4.2: all labels of a text are a text"),
    "guide.feature_space": ("concat", "Sec. 3.2, 3.3: E_t and E_l of the feature extractor"),
    "guide.distance": ("sum", "Sec. 3.3, Eq. 2"),
    "guide.stop_gradient": ("none", "Sec. 3.3, 3.5: the losses interact"),
    "clusters.above": (100_000, "Sec. 3.4: clusters for Wiki-500K alone"),
    "clusters.negatives": (None, "Sec. 3.4, Eq. 5: all candidate labels"),
    "train.epochs": (40, "Sec. 4.2"),
    "train.batch_size": (8, "Sec. 4.2"),
}

STATED: dict[str, Stated] = {
    "eclare": ECLARE,
    "galaxc": GALAXC,
    "gnnxml": GNNXML,
    "gudn": GUDN,
    "xgrank": XGRANK,
}

NOT_STATED: dict[str, set[str]] = {
    "eclare": {"models", "stages.rank.validate_every", "label_documents", "token_scale", "game.by_rows"},
    "galaxc": {"text.kind", "shortlist.ef_search", "stages.joint.validate_every"},
    "gnnxml": {
        "documents.keywords",
        "documents.entities",
        "network.layers",
        "network.width",
        "network.shared",
        "network.dropout",
        "network.weight_power",
        "clusters.threshold",
        "clusters.weight",
        "ranker.vectors",
        "ranker.beam",
        "match.epochs",
        "match.batch_size",
        "match.schedule",
    },
    "gudn": {
        "head_rate",
        "encoder.layer_decay",
        "encoder.dropout",
        "guide.share_classifier",
        "train.optimiser",
        "train.lr",
        "train.row_lr",
        "train.schedule",
        "train.warmup",
        "train.weight_decay",
        "train.clip_norm",
        "train.patience",
        "train.watch",
    },
    "xgrank": {
        "combine",
        "calibrate",
        "encoder.dropout",
        "encoder.pooled_dropout",
        "train.weight_decay",
        "train.schedule",
        "train.clip_norm",
        "train.validate_every",
    },
}


def in_file(system: str) -> dict[str, Any]:
    settings = read_toml(EXAMPLES / f"{system}-paper.toml")
    assert settings.pop("system") == system
    return settings


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return found


def test_every_system_of_a_paper_has_a_file() -> None:
    assert {path.name for path in EXAMPLES.glob("*.toml")} == {f"{system}-paper.toml" for system in STATED}
    assert STATED.keys() == NOT_STATED.keys()


@pytest.mark.parametrize(
    ("system", "name"), [(system, name) for system, stated in STATED.items() for name in stated]
)
def test_a_value_is_the_one_that_the_paper_states(system: str, name: str) -> None:
    value, place = STATED[system][name]
    assert name in flat(in_file(system)), "the file leaves it to the default"
    found = flat(to_dict(create(system, in_file(system)).config))[name]
    if isinstance(value, tuple) and isinstance(value[0], float):
        value, found = pytest.approx(list(value), abs=1e-6), list(found)
    assert found == (list(value) if isinstance(value, tuple) else value), place


@pytest.mark.parametrize("system", STATED)
def test_every_setting_of_a_file_is_stated_by_the_paper_or_said_not_to_be(system: str) -> None:
    stated, not_stated = set(STATED[system]), NOT_STATED[system]
    assert not stated & not_stated
    assert set(flat(in_file(system))) == stated | not_stated
    if not_stated:
        text = (EXAMPLES / f"{system}-paper.toml").read_text(encoding="utf-8")
        assert "not stated" in text
        assert "paper:" not in text, "a file does not depart from its paper"


@pytest.mark.parametrize("system", STATED)
def test_a_setting_whose_description_names_the_paper_is_in_its_file(system: str) -> None:
    """Defaults that differ from the paper say so (``paper: VALUE``): the file must set all of them."""
    described = {setting.name for setting in settings_of(create(system).Config) if "paper:" in setting.doc}
    assert described - set(flat(in_file(system))) == set()


def test_learning_rates_are_halved_where_the_papers_halve_them() -> None:
    """By epoch: the factor of the rate in the first step of an epoch."""

    def factors(system: str, stage: str) -> list[float]:
        table = in_file(system)["stages"][stage]
        config = TrainConfig(**{**table, "decay_at": tuple(table["decay_at"])})
        steps = 1153 * config.epochs
        return [rate_factor(config, 1153 * epoch, steps) for epoch in range(config.epochs)]

    assert factors("eclare", "embed") == [1.0] * 10 + [0.5] * 5 + [0.25] * 5
    assert factors("eclare", "rank") == [1.0] * 5 + [0.5] * 3 + [0.25] * 2
    schedule = (5, 10, 15, 20, 25, 28)
    expected = [0.5 ** sum(epoch >= step for step in schedule) for epoch in range(30)]
    assert factors("galaxc", "joint") == expected


def test_tables_name_settings_that_exist() -> None:
    for system, stated in STATED.items():
        names = {setting.name for setting in settings_of(create(system).Config)}
        assert {*stated, *NOT_STATED[system]} <= names, system


SMALLER: dict[str, dict[str, Any]] = {
    "eclare": {
        "text": {"wordpiece_vocab_size": 400},
        "width": 16,
        "stages": {stage: {"epochs": 1} for stage in ("embed", "shortlist", "rank")},
    },
    "galaxc": {"width": 16, "initial": {"surrogate": {"epochs": 1}}, "stages": {"joint": {"epochs": 1}}},
    "gnnxml": {"match": {"epochs": 1}},
    "gudn": {"encoder": {"tokens": 24}, "guide": {"tokens": 24}, "train": {"epochs": 1}},
    "xgrank": {"encoder": {"tokens": 24}, "labels": {"width": 16}, "train": {"epochs": 1}},
}
ENCODER = {"gnnxml": "documents.encoder", "gudn": "encoder.name", "xgrank": "encoder.names"}


@pytest.mark.parametrize("system", STATED)
def test_the_files_train(system: str, tiny: Parts, tmp_path: Path) -> None:
    """With one epoch and a tiny encoder in place of the paper's."""
    changes = SMALLER[system]
    if system in ENCODER:
        pytest.importorskip("transformers")
        folder = write_syllables(tmp_path / "encoder")
        changes = merge(changes, parse_overrides([f"{ENCODER[system]}={folder}"]))
    with threads.limit(1):
        model = create(system, merge(in_file(system), changes)).fit(tiny.train, valid=tiny.valid)
    assert (model.predict(tiny.test, k=1).indices >= 0).mean() > 0.9
