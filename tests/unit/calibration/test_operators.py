"""Calibration by operators: sums of times, whole networks, machines of several speeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.calibration.operators import OperatorFit, OperatorPrior, Timed, Work

CONVOLUTION, PRODUCT, NORM = range(3)


def work(*operators: tuple[float, float, int], traits: float = 0.0) -> Work:
    """Operators as (ms of arithmetic, ms of traffic, kind); each kind is one type."""
    rows = np.array([(compute, memory, 1e-3) for compute, memory, _ in operators])
    kind = np.array([kind for *_, kind in operators])
    return Work(rows, np.full((len(rows), 2), traits), kind, kind)


def timed(of: Work, factors: dict[int, float], *, in_groups: bool = True) -> Timed:
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

    found = fit.parts_ms(other).sum()

    assert found == pytest.approx(truth, rel=0.25)
    whole = OperatorFit([timed(MIXED, FACTORS, in_groups=False)]).parts_ms(other).sum()
    assert abs(np.log(whole / truth)) > 2 * abs(np.log(found / truth))  # what the profile brings


def test_entries_that_the_runtime_fused_are_the_sum_of_their_operators() -> None:
    alone = OperatorFit([timed(MIXED, FACTORS)])
    each = timed(MIXED, FACTORS)
    fused = replace(
        each,
        groups=[[0], [1, 2]],
        group_ms=np.array([each.group_ms[0], each.group_ms[1:].sum()]),
    )

    found = OperatorFit([fused]).parts_ms(MIXED).sum(axis=1)

    assert found.sum() == pytest.approx(each.latency_ms, rel=0.03)
    assert found[1:].sum() == pytest.approx(each.group_ms[1:].sum(), rel=0.15)
    assert alone.parts_ms(MIXED)[2].sum() > found[2]  # which of the two is slow is not told


def test_a_slow_minute_of_one_network_tells_little_of_the_others() -> None:
    steady = [timed(work((2.0 + i, 1.0, CONVOLUTION), (1.0, 1.0, NORM)), FACTORS) for i in range(6)]
    slow = replace(
        steady[0], latency_ms=steady[0].latency_ms * 1.4, group_ms=steady[0].group_ms * 1.4
    )

    found = OperatorFit([slow, *steady[1:]]).parts_ms(MIXED).sum()
    usual = OperatorFit(steady).parts_ms(MIXED).sum()

    assert 1.0 < found / usual < 1.4 ** (1 / 4)


def test_intervals_are_wider_for_kinds_and_sizes_that_were_not_timed() -> None:
    fit = OperatorFit([timed(work((4.0, 1.0, CONVOLUTION)), FACTORS)])

    def deviation(of: Work) -> float:
        return fit.deviation(of, fit.parts_ms(of))

    same = deviation(work((2.0, 0.5, CONVOLUTION)))
    larger = deviation(work((2.0, 0.5, CONVOLUTION), traits=4.0))
    other = deviation(work((2.0, 0.5, PRODUCT)))
    assert OperatorPrior().state < same < larger < other


def test_a_sum_over_many_alike_is_as_sure_as_one_of_them() -> None:
    one, many = (work(*[(2.0, 0.5, CONVOLUTION)] * count) for count in (1, 40))
    fit = OperatorFit([timed(MIXED, FACTORS)])

    assert fit.parts_ms(many).sum() == pytest.approx(40 * fit.parts_ms(one).sum())
    assert fit.deviation(many, fit.parts_ms(many)) == pytest.approx(
        fit.deviation(one, fit.parts_ms(one))
    )


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

    before, after = fit.parts_ms(of), fit.parts_ms(larger)

    assert np.isfinite(before).all()
    assert (after >= before).all()
    assert 0 < fit.deviation(of, before) < 5


def test_the_order_of_networks_and_of_operators_does_not_matter() -> None:
    first = timed(MIXED, FACTORS)
    second = timed(work((1.0, 3.0, NORM), (8.0, 1.0, CONVOLUTION)), FACTORS)
    turned = Work(*(getattr(MIXED, name)[::-1] for name in ("parts_ms", "traits", "kind", "code")))

    found = OperatorFit([first, second]).parts_ms(MIXED)
    again = OperatorFit([second, timed(turned, FACTORS)]).parts_ms(turned)

    np.testing.assert_allclose(found, again[::-1], rtol=1e-9)
