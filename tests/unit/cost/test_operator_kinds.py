"""Kinds of operators, by what they multiply."""

from __future__ import annotations

import numpy as np
import pytest

from predictor.cost.operator_kinds import KINDS, operator_kinds
from predictor.graph.operators import OPERATOR_CODE

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
        batch,
    )
    assert KINDS[number[0]] == kind
