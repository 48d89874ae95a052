"""What networks deviate by in a class of targets, from networks with the same products."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.calibration.network_deviations import NetworkDeviations, Products
from predictor.core.arrays import Floats
from tests.support.graphs import Op, make_graph

SQUARE, LINE, POINT = (1, 64, 576, 3), (1, 128, 192, 1), (1, 256, 64, 1)


def products(sizes: list[tuple[int, int, int, int]], rows: int = 100) -> Products:
    """Return the products of one convolution a size: groups, columns, length, window."""
    gemm = np.array([(groups, rows, columns, length) for groups, columns, length, _ in sizes])
    gemm = gemm.reshape(-1, 4).astype(np.int64)
    window = np.array([(side, side) for *_, side in sizes]).reshape(-1, 2)
    count = np.ones(len(sizes))
    return Products.of_columns(gemm.prod(axis=1), count, gemm, window, count)


def deviations(networks: list[Products], weights: list[list[float]]) -> NetworkDeviations:
    classes = [f"class {place}" for place in range(len(weights[0]))]
    return NetworkDeviations.of(networks, classes, np.array(weights))


def test_shares_are_those_of_roots_of_multiplications() -> None:
    # 100 x 64 x 576 and 100 x 256 x 64 multiplications: the roots are as 3 to 2.
    both = products([SQUARE, POINT])
    assert sorted(both.shares) == pytest.approx([0.4, 0.6])
    twice = products([SQUARE, SQUARE])
    assert twice.shares.tolist() == [1.0]


def test_likeness_is_the_common_share_over_that_of_either() -> None:
    known = deviations([products([SQUARE, POINT]), products([LINE])], [[0.0], [0.0]])
    alike = known.likeness(products([SQUARE]))
    # In common are 0.6 of 1 + 1 - 0.6.
    assert alike.tolist() == pytest.approx([0.6 / 1.4, 0.0])
    assert known.likeness(products([SQUARE, POINT])).tolist() == pytest.approx([1.0, 0.0])


def test_a_network_deviates_as_like_ones_in_the_class() -> None:
    known = deviations([products([SQUARE, POINT]), products([LINE])], [[0.2, -0.1], [0.3, 0.0]])
    assert known.of_network(products([SQUARE, POINT])).tolist() == pytest.approx([0.2, -0.1, 0.0])
    # A network without any of these products, and a class without networks, do not.
    assert known.of_network(products([(7, 7, 7, 7)])).tolist() == [0.0, 0.0, 0.0]
    assert known.places(["class 1", "another", "class 0"]).tolist() == [1, 2, 0]


def test_a_deviation_is_limited() -> None:
    known = deviations([products([SQUARE])], [[9.0, -9.0]])
    assert known.of_network(products([SQUARE])).tolist() == [0.5, -0.5, 0.0]


def test_without_any_network_nothing_deviates() -> None:
    nothing = NetworkDeviations.nothing()
    assert nothing.fits()
    assert nothing.of_network(products([SQUARE])).tolist() == [0.0]
    assert nothing.places(["arm x ncnn"]).tolist() == [0]
    assert deviations([products([SQUARE])], [[0.1]]).of_network(products([])).tolist() == [0.0, 0.0]


@given(rows=st.integers(1, 10**6), sizes=st.permutations([SQUARE, LINE, POINT, SQUARE]))
def test_neither_batch_nor_order_counts(rows: int, sizes: list[tuple[int, int, int, int]]) -> None:
    usual, other = products([SQUARE, LINE, POINT, SQUARE]), products(sizes, rows)
    assert usual.names.tolist() == other.names.tolist()
    assert other.shares == pytest.approx(usual.shares)


@given(st.lists(st.sampled_from([SQUARE, LINE, POINT]), min_size=1, max_size=6))
def test_less_is_in_common_the_more_a_network_changes(
    sizes: list[tuple[int, int, int, int]],
) -> None:
    known = deviations([products([SQUARE, LINE, POINT])], [[1.0]])
    alike: Floats = known.likeness(products(sizes))
    assert 0.0 <= alike[0] <= 1.0
    shorter = known.likeness(products([SQUARE, LINE, POINT, (3, 5, 7, 1)]))
    assert 0.9 < shorter[0] < 1.0


def test_a_graph_has_the_products_of_its_weights() -> None:
    ops = [Op(macs=900, weights=36, columns=9, window=(3, 3)), Op(written=4), Op(macs=400)]
    mine = Products.of(make_graph(ops))
    assert mine.shares.tolist() == [1.0]
    assert mine.names.tolist() == Products.of(make_graph(ops[:1])).names.tolist()
    assert not len(Products.of(make_graph(ops[1:])).names)


@pytest.mark.parametrize(
    "changed",
    [
        {"weights": np.zeros((1, 2))},
        {"weights": np.full((1, 1), np.nan)},
        {"network": np.array([4])},
        {"product": np.array([-1])},
        {"shares": np.array([0.5, 0.5])},
    ],
)
def test_arrays_that_do_not_belong_together_do_not_fit(changed: dict[str, Floats]) -> None:
    one = deviations([products([SQUARE])], [[0.1]])
    assert one.fits()
    assert not replace(one, **changed).fits()
