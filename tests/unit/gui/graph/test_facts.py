from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ctm_gui.graph.facts import KINDS, NodeFacts, kind_of
from predictor.core.units import LatencyUnit
from predictor.cost.engine import AttentionMaps
from predictor.services.graph.grouping import GroupTree, group_operators
from predictor.services.prediction.explain import OperatorTable
from tests.support.pictured_graphs import network, table_with


def tree_of(table: OperatorTable) -> GroupTree:
    return group_operators(table.names, table.op_types, table.edges)


@pytest.fixture
def facts() -> NodeFacts:
    table = network()
    return NodeFacts(tree_of(table), table, (0.5, 2.0))


def node_named(facts: NodeFacts, label: str) -> int:
    return facts.tree.labels.index(label)


@pytest.mark.parametrize(
    ("op_type", "kind"),
    [
        ("Conv", "convolution"),
        ("ConvTranspose", "convolution"),
        ("com.microsoft::FusedMatMul", "matrix product"),
        ("Relu", "activation"),
        ("LayerNormalization", "normalisation"),
        ("ReduceMean", "pooling, reduction"),
        ("GlobalAveragePool", "pooling, reduction"),
        ("Add", "arithmetic"),
        ("Expand", "data movement"),
        ("Exp", "arithmetic"),
        ("DequantizeLinear", "data movement"),
        ("Mystery", "other"),
        ("", "other"),
    ],
)
def test_types_have_kinds(op_type: str, kind: str) -> None:
    assert KINDS[kind_of(op_type)][0] == kind


def test_a_group_has_the_sums_of_its_operators(facts: NodeFacts) -> None:
    body = node_named(facts, "body")
    inside = facts.tree.operators_of(body)
    assert facts.latency_ms[body] == pytest.approx(facts.table.latency_ms[inside].sum())
    assert facts.share[facts.tree.root] == pytest.approx(1.0)
    np.testing.assert_allclose(facts.by_bound_ms.sum(axis=1), facts.latency_ms)
    # The stem's convolution takes 1 ms, its activation 2.
    assert facts.kinds[node_named(facts, "stem")] == kind_of("Relu")


def test_hovering_over_a_group_tells_what_is_in_it(facts: NodeFacts) -> None:
    lines = facts.details(node_named(facts, "block1"), LatencyUnit.MS).split("\n")
    assert lines[0] == "body / block1: 6 operators"
    assert lines[1] == "Conv × 2, Relu × 2, MaxPool × 1, Add × 1"
    assert lines[2].endswith(" moved")
    assert lines[3].endswith(" of the model")
    assert lines[4].endswith(" ms by the model's 80 % interval")
    assert lines[5].startswith("bound by compute ")


def test_hovering_over_an_operator_tells_the_operator(facts: NodeFacts) -> None:
    lines = facts.details(2, LatencyUnit.MS).split("\n")
    assert lines[0] == "/body/block0/a/Conv"
    assert lines[1] == "Conv, output 1×8"


def test_boxes_say_the_time_and_a_share_that_is_worth_it(facts: NodeFacts) -> None:
    assert facts.time(0, LatencyUnit.MS).startswith("1 ms · ")
    assert facts.time(3, LatencyUnit.MS) == "", "it takes no time"
    small = replace(facts.table, share=np.full(27, 1e-5))
    assert facts.time(0, LatencyUnit.FPS) != facts.time(0, LatencyUnit.US)
    assert "%" not in NodeFacts(facts.tree, small).time(0, LatencyUnit.MS)
    assert facts.time(0, LatencyUnit.MS).endswith(f" · {facts.share_text(0)}")
    assert NodeFacts(facts.tree, small).share_text(0) == ""


def test_where_name_and_type_are_one_the_shape_is_told(facts: NodeFacts) -> None:
    assert facts.title(2) == "Conv"
    assert facts.subtitle(2) == "1×8"
    assert facts.title(0) == "conv"
    assert facts.subtitle(0) == "Conv"


def test_names_from_files_are_shown_escaped_and_cut() -> None:
    table = table_with(["\x1b[31m" + "x" * 10_000, "b"], ["Relu", "Add"], [(0, 1)])
    facts = NodeFacts(tree_of(table), table)
    assert facts.title(0).startswith("\\x1b[31m")
    assert max(map(len, facts.details(0, LatencyUnit.MS).split("\n"))) < 300


def test_a_node_attends_to_what_most_of_its_time_goes_to(facts: NodeFacts) -> None:
    shares = np.zeros((27, 3), np.float32)
    shares[:, 1] = 1.0
    shares[2] = (0.0, 0.0, 1.0)
    maps = AttentionMaps(
        metrics=("bandwidth", "launch", "matrix_rate"),
        operator_to_metric=shares,
        metric_to_operator=shares.T,
        blend=1.0,
        residual=0.0,
    )
    attending = NodeFacts(facts.tree, replace(facts.table, attention=maps))
    assert attending.top_metrics == (1, 2, 0)
    assert attending.attended(2) == 1
    assert attending.attended(facts.tree.root) == 0
    assert facts.top_metrics == ()


def test_the_traffic_of_a_group_is_that_of_its_operators(facts: NodeFacts) -> None:
    assert facts.traffic[facts.tree.root] == pytest.approx(1.0)
    group = node_named(facts, "block1")
    inside = facts.traffic[facts.tree.operators_of(group)].sum()
    assert facts.traffic[group] == pytest.approx(inside)
