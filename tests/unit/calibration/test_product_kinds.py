"""Kinds of products with weights, and the directions in which their effects vary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.calibration.network_deviations import Products
from predictor.calibration.product_kinds import PRODUCT_KINDS, main_directions, product_kinds


def kind_of(columns: int, length: int, side: int = 1, groups: int = 1, rows: int = 49) -> int:
    gemm, window = np.array([[groups, rows, columns, length]]), np.array([[side, side]])
    return int(product_kinds(gemm, window)[0])


def test_the_first_and_the_last_kind() -> None:
    assert kind_of(columns=1, length=1) == 0
    assert kind_of(columns=1 << 20, length=1 << 20, side=7, groups=32) == PRODUCT_KINDS - 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"side": 1}, {"side": 3}),
        ({"side": 3}, {"side": 5}),
        ({"groups": 1}, {"groups": 2}),
        ({"columns": 32}, {"columns": 33 * 32}),
        ({"length": 8}, {"length": 27}),
    ],
)
def test_each_property_tells_kinds_apart(one: dict[str, int], other: dict[str, int]) -> None:
    usual = {"columns": 64, "length": 576, "side": 3}
    assert kind_of(**{**usual, **one}) != kind_of(**{**usual, **other})


@given(
    columns=st.integers(1, 1 << 16),
    length=st.integers(1, 1 << 16),
    side=st.integers(1, 31),
    groups=st.integers(1, 2048),
    rows=st.integers(1, 1 << 20),
)
def test_all_are_kinds_and_the_batch_is_not_read(
    columns: int, length: int, side: int, groups: int, rows: int
) -> None:
    kind = kind_of(columns, length, side, groups)
    assert 0 <= kind < PRODUCT_KINDS
    assert kind_of(columns, length, side, groups, rows) == kind


def test_a_network_divides_over_kinds_by_roots_of_multiplications() -> None:
    gemm = np.array([[1, 100, 64, 576], [1, 100, 256, 64], [1, 100, 64, 576]])
    window = np.array([[3, 3], [1, 1], [3, 3]])
    macs = gemm.prod(axis=1)
    of_kinds = Products.of_columns(macs, np.array([1, 1, 0]), gemm, window, np.ones(3)).of_kinds
    # The roots are as 3 to 2; the third has no weights.
    square, point = kind_of(64, 576, side=3), kind_of(256, 64)
    assert of_kinds[[square, point]] == pytest.approx([0.6, 0.4])
    assert of_kinds.sum() == pytest.approx(1.0)


def test_main_directions_are_those_in_which_networks_differ_the_most() -> None:
    kinds = np.eye(PRODUCT_KINDS)
    networks = np.array(
        [0.6 * kinds[3] + 0.4 * kinds[5], 0.6 * kinds[3] + 0.4 * kinds[5], kinds[7]]
    )

    directions = main_directions(networks, 2)

    assert directions.shape == (PRODUCT_KINDS, 2)
    assert directions.T @ directions == pytest.approx(np.eye(2))
    # 2 x 0.52 of squares are along the networks that are alike, 1 along the third.
    assert np.abs(directions[[3, 5, 7], 0]) == pytest.approx([0.6 / 0.52**0.5, 0.4 / 0.52**0.5, 0])
    assert np.abs(directions[7, 1]) == pytest.approx(1.0)
    assert main_directions(networks[:1], 2).shape == (PRODUCT_KINDS, 1)
