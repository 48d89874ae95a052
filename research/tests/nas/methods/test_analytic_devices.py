"""Analytic devices: repeatable, made of the graphs alone, and as different as devices are."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from ctm_research.nas.methods.analytic_devices import analytic_log_latency
from ctm_research.nas.spaces.kernels import kernel_table
from predictor.graph.operators import OPERATOR_CODE

CONV = OPERATOR_CODE["Conv"]


def kernel(macs: int, window: int = 1, groups: int = 1, rows: int = 64) -> tuple[int, ...]:
    return (CONV, 0, macs, 1000, 500, 1000, groups, rows, 16, 16, window, 1)


POINTWISE, WIDE, DEPTHWISE = kernel(10_000), kernel(90_000, rows=1024), kernel(5_000, 3, 16)
TABLE = kernel_table(
    [
        Counter({POINTWISE: 2, DEPTHWISE: 1}),
        Counter({POINTWISE: 4, DEPTHWISE: 2}),
        Counter({WIDE: 1, DEPTHWISE: 1}),
    ]
)


def test_a_graph_with_all_kernels_twice_takes_twice_as_long_on_every_device():
    found = analytic_log_latency(TABLE, 50, np.random.default_rng(0))
    assert found.shape == (3, 50)
    assert found[1] - found[0] == pytest.approx(np.full(50, np.log(2)), abs=1e-5)


def test_equal_seeds_give_equal_devices_and_others_do_not():
    one, same, other = (
        analytic_log_latency(TABLE, 5, np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    assert (one == same).all()
    assert (one != other).any()


def test_devices_rank_the_same_graphs_differently():
    found = analytic_log_latency(TABLE, 400, np.random.default_rng(1))
    slower = (found[2] > found[1]).mean()
    assert 0.1 < slower < 0.9
    assert np.isfinite(found).all()


def test_some_devices_are_bound_by_launches_and_some_by_arithmetic():
    # Ratio of the graph with 2 kernels to the one with 3, which has a fifth of its MACs.
    ratio = np.exp(
        np.diff(analytic_log_latency(TABLE, 400, np.random.default_rng(2))[[0, 2]], axis=0)
    )
    assert ratio.min() < 1.0
    assert ratio.max() > 2.0


def test_arithmetic_hardly_shows_where_launches_bind():
    # 3 kernels against 2 with five times the MACs: the ratio is near that of the launches.
    found = analytic_log_latency(TABLE, 300, np.random.default_rng(3), launch_bound=1.0)
    ratio = np.exp(found[0] - found[2])
    assert np.median(ratio) == pytest.approx(1.5, rel=0.15)
    assert (ratio > 1).mean() > 0.9
