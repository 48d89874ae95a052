"""Kinds of operators, by what they multiply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.cost.operator_kinds import (
    KINDS,
    NETWORK_KIND_OF_CODE,
    NETWORK_KINDS,
    is_convolution,
    kinds_of,
    operator_kinds,
)
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import OPERATOR_CODE, OPERATORS
from tests.support.graphs import Op, make_graph

CASES = [
    # type, groups, rows, columns, length, window, weights, winograd, batch, kind
    ("Conv", 1, 196, 64, 576, 3, 1, True, 1, "3 x 3 convolution"),
    ("Conv", 1, 196, 64, 147, 7, 1, False, 1, "other convolution"),
    ("Conv", 1, 196, 64, 256, 1, 1, False, 1, "pointwise convolution"),
    ("Conv", 64, 196, 1, 9, 3, 1, False, 1, "depthwise convolution"),
    ("Conv", 32, 196, 4, 36, 3, 1, False, 1, "grouped convolution"),
    # Two images at once, whose weights are computed.
    ("Conv", 2, 196, 64, 576, 3, 0, False, 2, "other convolution"),
    ("Conv", 128, 196, 1, 9, 3, 0, False, 2, "depthwise convolution"),
    ("MatMul", 1, 128, 768, 768, 0, 1, False, 1, "product with weights"),
    ("Gemm", 1, 1, 1000, 2048, 0, 1, False, 1, "thin product"),
    # Eight images at once: still one row of each.
    ("Gemm", 1, 8, 1000, 2048, 0, 1, False, 8, "thin product"),
    ("MatMul", 12, 128, 128, 64, 0, 0, False, 1, "product of activations"),
    ("Relu", 0, 0, 0, 0, 0, 0, False, 1, "element by element"),
    ("Softmax", 0, 0, 0, 0, 0, 0, False, 1, "normalisation"),
    ("MaxPool", 0, 0, 0, 0, 3, 0, False, 1, "pooling"),
    ("Concat", 0, 0, 0, 0, 0, 0, False, 1, "movement"),
    ("NonZero", 0, 0, 0, 0, 0, 0, False, 1, "other"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[-1]}")
def test_kinds(case: tuple[str, int, int, int, int, int, int, bool, int, str]) -> None:
    name, groups, rows, columns, length, window, weights, winograd, batch, kind = case
    number = operator_kinds(
        np.array([OPERATOR_CODE[name]]),
        np.array([[groups, rows, columns, length]], np.float64),
        np.array([[window, window]], np.float64),
        np.array([weights], np.float64),
        np.array([winograd]),
        np.array([False]),
        batch,
    )
    assert KINDS[number[0]] == kind


@pytest.mark.parametrize(
    ("shape", "kind"),
    [((1, 64, 16, 56, 56), "3-D convolution"), ((1, 64, 56, 56), "3 x 3 convolution")],
)
def test_a_convolution_of_volumes_is_a_kind_of_its_own(shape: tuple[int, ...], kind: str) -> None:
    flags = int(OperatorFlag.WINOGRAD)
    graph = make_graph([Op(macs=10**6, weights=9, window=(3, 3), flags=flags)])
    shaped = replace(graph, shape_dims=np.array(shape), shape_offsets=np.array([0, len(shape)]))

    assert [KINDS[number] for number in kinds_of(shaped)] == [kind]


# Types whose kind the network of the checkpoint reads as another, by both kinds: 25 by their type
# alone, 7 convolutions, and contractions that it knows by four types.
OTHER_FOR_THE_NETWORK = {
    ("normalisation", "other"): """
        ArgMax ArgMin BatchNormalization CumSum GroupNorm LRN LogSoftmax LpNormalization
        MeanVarianceNormalization QLinearSoftmax RMSNormalization ReduceL1 ReduceL2
        ReduceLogSumExp ReduceMax ReduceMin ReduceProd ReduceSum ReduceSumSquare
        SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization TopK
    """,
    ("other", "pooling"): "GlobalLpPool MaxRoiPool",
    ("convolution", "other"): """
        DeformConv FusedConv NhwcConv NhwcFusedConv NhwcQLinearConv QLinearConv
        QLinearConvTranspose
    """,
    ("other", "product"): "Attention Einsum Gemm MatMul",
}


def kind_of_type(name: str) -> str:
    """Return the kind of a type without a form, a convolution as such."""
    code, one = np.array([OPERATOR_CODE[name]]), np.ones((1, 4))
    form = one if is_convolution(code, np.zeros((1, 2)))[0] else 0 * one
    (number,) = operator_kinds(code, form, np.zeros((1, 2)), one[:, 0], *[one[:, 0] == 0] * 2, 1)
    return "convolution" if form.any() else KINDS[number]


def test_the_types_that_the_network_reads_as_another_kind() -> None:
    """The next training can drop the network's column for what is not listed here."""
    coarser = {"element by element": "other", "movement": "other"}
    found: dict[tuple[str, str], set[str]] = {}
    for name, number in zip(OPERATORS, NETWORK_KIND_OF_CODE.tolist(), strict=True):
        kind = kind_of_type(name)
        pair = coarser.get(kind, kind), NETWORK_KINDS[number]
        if len(set(pair)) == 2:
            found.setdefault(pair, set()).add(name)

    assert found == {pair: set(names.split()) for pair, names in OTHER_FOR_THE_NETWORK.items()}
    of_type = [len(found[pair]) for pair in (("normalisation", "other"), ("other", "pooling"))]
    assert sum(of_type) == 25
