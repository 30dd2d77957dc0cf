"""The course of ECLARE's training, top to bottom as in the paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.systems.common.fingerprint import fingerprint
from longtail.systems.common.fusion import Fusion, groups_of
from longtail.systems.common.holding_out import ENOUGH_TO_HOLD_OUT, TAUGHT_BY, held_documents, held_out
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.teach_fusion import teach
from longtail.systems.common.validation import Held
from longtail.systems.common.witness import Witness
from longtail.systems.eclare import modules
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.folded import Folded, folded_model
from longtail.systems.eclare.inputs import Inputs
from longtail.systems.eclare.weights import EVIDENCE, Weights
from longtail.training.checkpoint import open_for
from longtail.training.surroundings import torch_threads
from longtail.types import Dataset


def learn(
    train: Dataset, valid: Dataset | None, config: EclareConfig, run: Run
) -> tuple[Inputs, list[Folded], Witness | None]:
    """The training data as matrices, the members of the ensemble, and the linear tree beside them."""
    checkpoints = open_for(run, fingerprint(train, valid, config))
    if valid is None and config.score == "learnt" and len(train) >= ENOUGH_TO_HOLD_OUT:
        train, valid = held_out(train, config.seed)
        run.say(f"no validation data: {len(valid)} training documents were held out to learn the score from")
    inputs = Inputs.of(train, config, run)
    held, witness = None, None
    if valid is not None:
        witness = Witness.learn(train, config, run) if config.linear and config.score == "learnt" else None
        held = held_documents(valid, inputs.rows, config.fields, witness)
    members = [
        learn_member(modules.Course(config, inputs, None, member, run, checkpoints), held)
        for member in range(config.members)
    ]
    return inputs, members, witness


def learn_member(course: modules.Course, held: Held | None) -> Folded:
    """Modules I to IV, then everything folded into matrices."""
    config, inputs, run = course.config, course.inputs, course.run
    course = replace(course, held=None if held is None else held.some(config.seed))
    exact = inputs.Y.shape[1] < config.shortlist.exact_below

    embedded = modules.embed(course)
    course = replace(course, inputs=replace(inputs, G=modules.pruned_graph(course, embedded.tokens)))
    clusters = None if exact else modules.shortlister(course, embedded.tokens)
    hard = modules.hard_negatives(course, clusters)
    ranker = modules.rank(course, embedded, hard)

    with run.phase("fold"):
        weights = fold(course, clusters, ranker)
        texts = LabelTexts(inputs.Z, inputs.Z.shape[0])
        folded = folded_model(weights, texts, config)
    if config.score == "learnt" and held is not None:
        with run.phase("fusion"), torch_threads():
            fusion = taught(folded, held, config)
        weights = replace(weights, fusion_weights=fusion.weights, fusion_start=fusion.start)
        folded = folded_model(weights, texts, config)
    return folded


def fold(course: modules.Course, clusters: modules.Clusters | None, ranker: modules.Ranker) -> Weights:
    """Everything that does not depend on a document, computed once."""
    network, width = ranker.network, course.width
    classifiers, parts = network.fold(
        ranker.targets.texts, ranker.tokens, ranker.refinement, ranker.targets.counts
    )
    G = course.inputs.G
    none = np.zeros((0, width), np.float32)
    cluster_graph = csr_array((0, 0), dtype=np.float32) if clusters is None else clusters.graph
    attention = network.attention
    shared = course.config.tokens == "frozen"
    return Weights(
        tokens=ranker.tokens.weight.numpy(),
        residual=network.document.folded().numpy(),
        classifiers=classifiers,
        bias=network.bias.detach().numpy().reshape(1),
        cluster_tokens=none if clusters is None or shared else clusters.tokens,
        cluster_residual=np.zeros((width, width), np.float32) if clusters is None else clusters.residual,
        cluster_classifiers=none if clusters is None else clusters.classifiers,
        cluster_bias=np.zeros(1, np.float32) if clusters is None else clusters.bias,
        member_ptr=np.zeros(1, np.int64) if clusters is None else clusters.member_ptr,
        members=np.zeros(0, np.int32) if clusters is None else clusters.members,
        graph_indptr=G.indptr.astype(np.int64),
        graph_indices=G.indices.astype(np.int32),
        graph_data=G.data.astype(np.float32),
        cluster_graph_indptr=cluster_graph.indptr.astype(np.int64),
        cluster_graph_indices=cluster_graph.indices.astype(np.int32),
        cluster_graph_data=cluster_graph.data.astype(np.float32),
        fusion_weights=np.zeros((0, len(EVIDENCE)), np.float32),
        fusion_start=np.zeros(0, np.float32),
        group=groups_of(np.bincount(course.inputs.Y.indices, minlength=len(classifiers))),
        blocks=network.folded_blocks(),
        attention_transform=none if attention is None else attention.folded_transform().numpy(),
        attention_weigh=none if attention is None else attention.weigh.weight.detach().numpy(),
        parts=parts,
    )


def taught(folded: Folded, held: Held, config: EclareConfig) -> Fusion:
    """The weights of the fusion, from validation documents."""
    held = held.sample(TAUGHT_BY, config.seed)
    candidates = folded.shortlist(held.X, held.linear)
    evidence = folded.evidence(held.X, candidates, held.linear)
    return teach(candidates, evidence, held, config.balance)
