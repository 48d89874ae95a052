"""Graphs as counts of kernels: nothing of what they cost is lost."""

from __future__ import annotations

import numpy as np

from ctm_research.nas.spaces.kernels import kernel_table, kernels_of
from ctm_research.nas.spaces.structure import STRUCTURE_NAMES, operator_counts, structure
from ctm_research.network.graph_table import GraphTable
from ctm_research.packed import PackedGraphs
from predictor.graph.operators import OPERATOR_CODE
from predictor.probing.networks.spaces import operator_graph_of
from research.tests.nas.small_space import small_codes, small_graphs

SKIPS = [8] * 22  # FBNet with "skip" in every block
GROUPED = [1, *[8] * 21]  # k3_e1_g2 in the first block


def fbnet_features(code: list[int]) -> dict[str, float]:
    table = kernel_table([kernels_of(operator_graph_of("fbnet-cifar100", code))])
    return dict(zip(STRUCTURE_NAMES, structure(table)[0], strict=True))


def test_totals_are_those_of_the_graphs() -> None:
    kernels = small_graphs().kernels
    for row in (0, 17):
        graph = operator_graph_of("nasbench201-eager", small_codes()[row])
        assert kernels.total(kernels.column("macs"))[row] == graph.macs.sum()
        assert kernels.total(kernels.column("bytes_written"))[row] == graph.bytes_written.sum()


def test_an_activation_in_an_epilogue_launches_no_kernel() -> None:
    # Stem convolution with its ReLU, six convolutions where width or stride changes, head
    # convolution with its ReLU, pooling and classifier: the flattening between is a view.
    features = fbnet_features(SKIPS)

    assert features["kernels launched"] == 1 + 6 + 1 + 1 + 1
    assert features["activations in epilogues"] == 2
    assert features["depthwise convolutions"] == 0


def test_a_grouped_block_shows_in_every_count_that_it_touches() -> None:
    plain, grouped = fbnet_features(SKIPS), fbnet_features(GROUPED)
    change = {name: grouped[name] - plain[name] for name in plain}

    # 1x1 with 2 groups, shuffle (a transposition), 3x3 depthwise, 1x1 with 2 groups, addition.
    assert change["kernels launched"] == 5
    assert change["grouped pointwise convolutions"] == 2
    assert change["depthwise convolutions"] == 1
    assert change["depthwise 5 x 5 convolutions"] == 0
    # 16 channels on 32 x 32: two 1x1 with 8 inputs for each output, and 9 taps a channel.
    assert change["MACs of pointwise convolutions"] == 2 * 32 * 32 * 16 * 8
    assert change["MACs of depthwise convolutions"] == 32 * 32 * 16 * 9
    assert change["MACs"] == 32 * 32 * 16 * (2 * 8 + 9)
    assert change["kernels without a contraction"] == 2


def test_operators_are_counted_by_type() -> None:
    table = kernel_table(
        kernels_of(operator_graph_of("fbnet-cifar100", code)) for code in (SKIPS, GROUPED)
    )
    place = np.unique(table.column("op_code")).tolist().index(OPERATOR_CODE["Transpose"])

    assert operator_counts(table)[:, place].tolist() == [0, 1]


def test_packing_loses_nothing() -> None:
    codes = small_codes()[:7]
    table = GraphTable.of([operator_graph_of("nasbench201-eager", code) for code in codes])
    halves = [PackedGraphs.of(table.take([0, 1, 2])), PackedGraphs.of(table.take([3, 4, 5, 6]))]

    packed = PackedGraphs.joined(halves)
    taken, expected = packed.take([5, 0, 5]), table.take([5, 0, 5])

    assert len(packed) == 7
    assert len(packed.op_code) < len(table.op_code)
    for name in ("op_code", "features", "edges", "node_offsets", "edge_offsets"):
        assert np.array_equal(getattr(taken, name), getattr(expected, name)), name
