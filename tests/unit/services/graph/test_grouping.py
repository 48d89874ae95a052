from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.services.graph.folding import LARGEST_LEVEL
from predictor.services.graph.grouping import GroupTree, group_operators, module_path
from predictor.services.graph.layout import downward_edges
from tests.support.networks.ingesting import ingest_proto
from tests.support.networks.transformers import bert_base
from tests.support.networks.vision import resnet50

pytestmark = pytest.mark.slow

PARTS = st.sampled_from(["", "a", "b", "layer.0", "layer.1", "Conv", "x" * 50])
NAMES = st.lists(PARTS, max_size=5).map("/".join)
TYPES = st.sampled_from(["Conv", "Relu", "Add", "MatMul"])


@st.composite
def graphs(draw: st.DrawFn) -> GroupTree:
    count = draw(st.integers(0, 300))
    names = draw(st.lists(NAMES, min_size=count, max_size=count))
    types = draw(st.lists(TYPES, min_size=count, max_size=count))
    ends = st.integers(0, max(count - 1, 0))
    pairs = draw(st.sets(st.tuples(ends, ends), max_size=2 * count))
    edges = sorted((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1])
    return grouped(names, types, sorted(set(edges)))


def grouped(names: list[str], types: list[str], edges: list[tuple[int, int]]) -> GroupTree:
    return group_operators(names, types, np.array(edges, dtype=np.int32).reshape(-1, 2).T)


def chain(types: list[str]) -> GroupTree:
    names = [f"{kind}_{place}" for place, kind in enumerate(types)]
    return grouped(names, types, list(pairwise(range(len(types)))))


def groups_of(tree: GroupTree) -> range:
    return range(tree.operators, tree.operators + len(tree.members))


def check_each_operator_is_in_one_member_of_each_group_around_it(tree: GroupTree) -> None:
    assert tree.operators_of(tree.root).tolist() == list(range(tree.operators))
    for group in groups_of(tree):
        members = tree.members_of(group)
        assert len(members) <= LARGEST_LEVEL
        assert len(members) > 1 or group == tree.root
        assert all(tree.parent[member] == group for member in members)
        inside = [operator for member in members for operator in tree.operators_of(member)]
        assert sorted(inside) == tree.operators_of(group).tolist()
        # By their first operator.
        firsts = [tree.operators_of(member)[0] for member in members]
        assert firsts == sorted(firsts)


def check_each_edge_runs_between_two_members_of_one_group(tree: GroupTree) -> None:
    between = {
        (member, other)
        for level in tree.level_edges.values()
        for member, other in zip(level.producer.tolist(), level.consumer.tolist(), strict=True)
    }
    expected = set()
    for producer, consumer in tree.edges.T.tolist():
        ways = [[each, *tree.ancestors(each)] for each in (producer, consumer)]
        shared = next(group for group in ways[0] if group in ways[1])
        expected.add(tuple(way[way.index(shared) - 1] for way in ways))
    assert between == expected


def check_edges_that_are_drawn_make_no_circle(tree: GroupTree) -> None:
    for group in groups_of(tree):
        members = tree.members_of(group)
        pairs = downward_edges(tree, group)
        assert all(
            members.index(producer) < members.index(consumer) for producer, consumer in pairs
        )
        assert len(pairs) == len(set(pairs))


def check_sums_of_groups_are_those_of_their_operators(tree: GroupTree) -> None:
    values = np.arange(tree.operators, dtype=np.float64)
    sums = tree.sums(values)
    assert sums[: tree.operators].tolist() == values.tolist()
    for group in groups_of(tree):
        assert sums[group] == values[tree.operators_of(group)].sum()


@given(graphs())
def test_any_graph_has_a_sound_tree_of_groups(tree: GroupTree) -> None:
    check_each_operator_is_in_one_member_of_each_group_around_it(tree)
    check_each_edge_runs_between_two_members_of_one_group(tree)
    check_edges_that_are_drawn_make_no_circle(tree)
    check_sums_of_groups_are_those_of_their_operators(tree)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("/layer1/layer1.0/conv1/Conv", ("layer1", "layer1.0", "conv1", "Conv")),
        ("model.layers.3.self_attn.q_proj", ("model", "layers", "3", "self_attn", "q_proj")),
        ("MobilenetV2/expanded_conv_3/add:0", ("MobilenetV2", "expanded_conv_3", "add")),
        ("net/a/Relu;net/a/BiasAdd", ("net", "a", "Relu")),
        ("Conv_12", ("Conv_12",)),
        ("a:b", ("a:b",)),
        ("", ("Add",)),
        ("///", ("Add",)),
    ],
)
def test_names_tell_modules(name: str, path: tuple[str, ...]) -> None:
    assert module_path(name, "Add") == path


def test_modules_are_groups_and_one_operator_stands_for_its_module() -> None:
    names = [
        "/stem/Conv",
        "/body/0/conv/Conv",
        "/body/0/act/Relu",
        "/body/1/conv/Conv",
        "/head/a/Gemm",
    ]
    tree = grouped(names, ["Conv", "Conv", "Relu", "Conv", "Gemm"], list(pairwise(range(5))))
    top = [tree.labels[node] for node in tree.members_of(tree.root)]
    assert top == ["stem", "body", "head"]
    (body,) = (node for node in tree.members_of(tree.root) if tree.is_group(node))
    assert [tree.labels[node] for node in tree.members_of(body)] == ["0", "1"]
    assert tree.count(body) == 3
    assert tree.depth[1] == 3


def test_a_module_around_all_is_left_out() -> None:
    tree = grouped(["m/n/a", "m/n/b", "m/n/c"], ["Relu"] * 3, [(0, 1), (1, 2)])
    assert [tree.labels[node] for node in tree.members_of(tree.root)] == ["a", "b", "c"]


def test_equal_blocks_in_a_row_are_groups() -> None:
    block = ["MatMul", "Add", "Softmax", "MatMul", "Relu"]
    tree = chain(["Gather", *block * 12, *["Add"] * 3])
    labels = [tree.labels[node] for node in tree.members_of(tree.root)]
    assert labels == [
        "Gather_0",
        *(f"block {n}" for n in range(1, 13)),
        "Add_61",
        "Add_62",
        "Add_63",
    ]


@pytest.mark.parametrize("count", [61, 500, 4000])
def test_operators_all_alike_are_cut_evenly(count: int) -> None:
    tree = chain(["MatMul"] * count)
    sizes = [tree.count(node) for node in tree.members_of(tree.root)]
    assert max(sizes) <= 3 * count / len(sizes)


def test_cuts_are_where_few_tensors_are_alive() -> None:
    # Two ways between each multiple of five and the next.
    edges = [*pairwise(range(80)), *((start, start + 5) for start in range(0, 75, 5))]
    types = [f"Kind{place}" for place in range(80)]
    tree = grouped([f"op{place}" for place in range(80)], types, edges)
    starts = [tree.operators_of(node)[0] for node in tree.members_of(tree.root)][1:]
    assert len(starts) > 3
    assert {start % 5 for start in starts} == {1}


def test_a_name_of_ten_thousand_levels_is_read() -> None:
    names = ["/".join(f"m{level}" for level in range(10_000)) + f"/op{place}" for place in range(3)]
    tree = grouped(names, ["Relu"] * 3, [(0, 1), (1, 2)])
    assert tree.count(tree.root) == 3
    assert tree.depth.max() < 30


@pytest.mark.parametrize("network", [resnet50, bert_base])
def test_networks_without_module_names_are_folded(network: Callable[[], onnx.ModelProto]) -> None:
    graph = ingest_proto(network()).graph
    tree = group_operators(graph.names, graph.op_types, graph.edges)
    again = group_operators(graph.names, graph.op_types, graph.edges)
    assert tree.labels == again.labels
    assert tree.members == again.members
    blocks = [label for label in tree.labels if label.startswith("block ") and "…" not in label]
    assert len(blocks) >= (11 if network is bert_base else 4)
