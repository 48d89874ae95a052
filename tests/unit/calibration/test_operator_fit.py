"""Calibration by operators: sums of times, whole networks, machines of several speeds."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.calibration.operator_fit import FactorPrior, OperatorFit, RatedOperators, Timed

pytestmark = pytest.mark.slow

CONVOLUTION, PRODUCT, NORM = range(3)


def work(*operators: tuple[float, float, int], traits: float = 0.0) -> RatedOperators:
    """Operators as (ms of arithmetic, ms of traffic, kind); each kind is one type."""
    rows = np.array([(compute, memory, 1e-3) for compute, memory, _ in operators])
    kind = np.array([kind for *_, kind in operators])
    return RatedOperators(rows, np.full((len(rows), 2), traits), kind, kind)


def timed(of: RatedOperators, factors: dict[int, float], *, in_groups: bool = True) -> Timed:
    """What a target takes whose operators are slower than its rates by a factor for each kind."""
    own = of.parts_ms.sum(axis=1) * np.array([factors[kind] for kind in of.kind.tolist()])
    groups = [[row] for row in range(len(own))] if in_groups else []
    return Timed(of, float(own.sum()), groups, own if in_groups else np.zeros(0), 0.01)


FACTORS = {CONVOLUTION: 2.0, PRODUCT: 1.2, NORM: 9.0}
MIXED = work((4.0, 1.0, CONVOLUTION), (2.0, 0.5, PRODUCT), (0.0, 0.5, NORM))


def test_operators_of_one_network_foretell_another_mix_of_the_same_kinds() -> None:
    fit = OperatorFit([timed(MIXED, FACTORS)])
    other = work((1.0, 0.25, CONVOLUTION), (0.0, 2.0, NORM), (0.0, 1.5, NORM))
    truth = timed(other, FACTORS).latency_ms

    found = fit.predict(other).parts_ms.sum()

    assert found == pytest.approx(truth, rel=0.25)
    whole = OperatorFit([timed(MIXED, FACTORS, in_groups=False)]).predict(other).parts_ms.sum()
    assert abs(np.log(whole / truth)) > 2 * abs(np.log(found / truth))  # what the profile brings


def test_entries_that_the_runtime_fused_are_the_sum_of_their_operators() -> None:
    alone = OperatorFit([timed(MIXED, FACTORS)])
    each = timed(MIXED, FACTORS)
    fused = replace(
        each,
        groups=[[0], [1, 2]],
        group_ms=np.array([each.group_ms[0], each.group_ms[1:].sum()]),
    )

    found = OperatorFit([fused]).predict(MIXED).parts_ms.sum(axis=1)

    assert found.sum() == pytest.approx(each.latency_ms, rel=0.03)
    assert found[1:].sum() == pytest.approx(each.group_ms[1:].sum(), rel=0.15)
    assert alone.predict(MIXED).parts_ms[2].sum() > found[2]  # which of the two is slow is not told


def test_a_slow_minute_of_one_network_tells_little_of_the_others() -> None:
    steady = [timed(work((2.0 + i, 1.0, CONVOLUTION), (1.0, 1.0, NORM)), FACTORS) for i in range(6)]
    slow = replace(
        steady[0], latency_ms=steady[0].latency_ms * 1.4, group_ms=steady[0].group_ms * 1.4
    )

    found = OperatorFit([slow, *steady[1:]]).predict(MIXED).parts_ms.sum()
    usual = OperatorFit(steady).predict(MIXED).parts_ms.sum()

    assert 1.0 < found / usual < 1.4 ** (1 / 4)


def test_intervals_are_wider_for_kinds_and_sizes_that_were_not_timed() -> None:
    fit = OperatorFit([timed(work((4.0, 1.0, CONVOLUTION)), FACTORS)])

    same = fit.predict(work((2.0, 0.5, CONVOLUTION))).deviation
    larger = fit.predict(work((2.0, 0.5, CONVOLUTION), traits=4.0)).deviation
    other = fit.predict(work((2.0, 0.5, PRODUCT))).deviation
    assert FactorPrior().state < same < larger < other


def test_a_sum_over_many_alike_is_as_sure_as_one_of_them() -> None:
    one, many = (work(*[(2.0, 0.5, CONVOLUTION)] * count) for count in (1, 40))
    fit = OperatorFit([timed(MIXED, FACTORS)])

    found, alone = fit.predict(many), fit.predict(one)

    assert found.parts_ms.sum() == pytest.approx(40 * alone.parts_ms.sum())
    assert found.deviation == pytest.approx(alone.deviation)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 50), st.floats(0, 50), st.integers(0, 2)), min_size=1, max_size=8
    ),
    st.floats(0.02, 50.0),
    st.integers(2, 64),
)
def test_times_grow_with_the_work_and_are_finite(
    operators: list[tuple[float, float, int]], speed: float, batch: int
) -> None:
    of = work(*operators)
    fit = OperatorFit([timed(MIXED, dict.fromkeys(FACTORS, speed))])
    larger = replace(of, parts_ms=of.parts_ms * [batch, batch, 1])

    before, after = fit.predict(of), fit.predict(larger)

    assert np.isfinite(before.parts_ms).all()
    assert (after.parts_ms >= before.parts_ms).all()
    assert 0 < before.deviation < 5


def test_the_order_of_networks_and_of_operators_does_not_matter() -> None:
    first = timed(MIXED, FACTORS)
    second = timed(work((1.0, 3.0, NORM), (8.0, 1.0, CONVOLUTION)), FACTORS)
    turned = RatedOperators(
        *(getattr(MIXED, name)[::-1] for name in ("parts_ms", "traits", "kind", "code"))
    )

    found = OperatorFit([first, second]).predict(MIXED).parts_ms
    again = OperatorFit([second, timed(turned, FACTORS)]).predict(turned).parts_ms

    np.testing.assert_allclose(found, again[::-1], rtol=1e-9)


def many_operators(seed: int, count: int) -> RatedOperators:
    """Operators of all sizes, no two alike."""
    generator = np.random.default_rng(seed)
    kind = generator.integers(0, len(FACTORS), count)
    parts_ms = generator.lognormal(-3, 1.5, (count, 3))
    return RatedOperators(parts_ms, generator.normal(0, 2, (count, 2)), kind, kind)


def peak_bytes(call: Callable[[], object]) -> int:
    """Most memory that a call takes at any moment."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_model_of_10_000_operators_takes_little_memory() -> None:
    large = many_operators(0, 10_000)
    fit = OperatorFit([timed(many_operators(seed, 40), FACTORS) for seed in range(1, 13)])

    assert peak_bytes(lambda: fit.predict(large)) < 100e6
    found = fit.predict(large)
    each = np.concatenate(
        [fit.predict(large.take(rows)).parts_ms for rows in np.split(np.arange(10_000), 4)]
    )
    np.testing.assert_allclose(found.parts_ms, each)
    assert found.parts_ms.sum() == pytest.approx(timed(large, FACTORS).latency_ms, rel=0.25)


def test_many_large_profiles_take_little_memory_and_still_tell_of_others() -> None:
    profiles = [timed(many_operators(seed, 2_000), FACTORS) for seed in range(1, 13)]
    other = many_operators(0, 40)
    fits: list[OperatorFit] = []

    assert peak_bytes(lambda: fits.append(OperatorFit(profiles))) < 200e6
    truth = timed(other, FACTORS).latency_ms
    assert fits[0].predict(other).parts_ms.sum() == pytest.approx(truth, rel=0.25)


def test_a_network_of_very_small_operators_is_left_out_beside_large_ones() -> None:
    profiles = [timed(many_operators(seed, 500), FACTORS) for seed in range(1, 4)]
    dust = timed(many_operators(0, 9_000), FACTORS)

    alone, beside = (OperatorFit(each).predict(MIXED) for each in (profiles, [*profiles, dust]))

    np.testing.assert_allclose(alone.parts_ms, beside.parts_ms, rtol=0.1)
