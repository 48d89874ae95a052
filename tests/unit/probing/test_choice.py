"""Which networks come next: at once, or by what was measured."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from predictor.calibration.operator_fit import RatedOperators
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.percentiles import Z80
from predictor.core.records import Configuration, Device, Target
from predictor.probing.choice import (
    ADAPTIVE,
    INFORMATION,
    ROUND,
    Beliefs,
    Choosing,
    PlanRequest,
    half_width,
)
from predictor.probing.estimates import estimated_ms
from predictor.probing.networks.pool import load_pool
from predictor.probing.selection.belief import Belief

POOL = load_pool()[::7]


def target(name: str, tflops: float, gbps: float) -> Target:
    metrics = {"fp32_tflops": tflops, "dram_bw_gbps": gbps, "core_count": 4}
    device = Device(id=name, name=name, vendor="maker", family=Family.CPU, metrics=metrics)
    return Target(device, Configuration("onnxruntime", threads=4, batch=1))


KNOWN = estimated_ms(
    POOL,
    [target("a", 0.1, 10), target("b", 1.0, 10), target("c", 0.1, 100), target("d", 5, 500)],
)
BOARD = target("a", 0.1, 10)
LIVE = Choosing(
    PlanRequest(target=BOARD, probes=9, selector="dbsel", seed=4, live=True), POOL, KNOWN
)


def asking(choosing: Choosing, **changes: Any) -> Choosing:
    return replace(choosing, request=replace(choosing.request, **changes))


def belief(spread: float, noise: float = 0.05) -> Belief:
    """One whose networks differ in two directions by their size."""
    sizes = np.log([network.macs + 1.0 for network in POOL])
    features = np.stack([np.ones(len(POOL)), (sizes - sizes.mean()) / sizes.std()], axis=1)
    return Belief(np.full(len(POOL), 1.0), spread * features, np.full(len(POOL), noise))


# Each network is one operator of its size.
WORKS = [
    RatedOperators(
        np.array([[network.macs / 1e9 + 1e-3]]),
        np.log([[network.macs + 1.0]]),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )
    for network in POOL
]


def test_the_information_optimal_selector_goes_by_operators_where_they_are_known() -> None:
    by_features = Choosing(PlanRequest(target=BOARD, probes=4, selector=INFORMATION), POOL)
    by_operators = replace(by_features, beliefs=Beliefs(WORKS))
    about_one = replace(by_features, beliefs=Beliefs(WORKS, [WORKS[9]]))

    assert len({row for row, _ in by_operators.first()}) == 4
    assert by_operators.first() != by_features.first()
    assert about_one.first()[0][0] == 9  # nothing tells more of a network than itself


def test_a_live_session_begins_with_a_third_of_its_probes_at_random() -> None:
    first = LIVE.first()
    assert len(first) == 3
    assert all("random start" in why for _, why in first)
    assert LIVE.first() == first
    assert asking(LIVE, seed=5).first() != first


@pytest.mark.parametrize(("probes", "live"), [(5, True), (9, False)])
def test_a_small_budget_and_a_kit_are_chosen_at_once(probes: int, live: bool) -> None:
    at_once = asking(LIVE, probes=probes, live=live).first()
    assert len({row for row, _ in at_once}) == probes
    assert not any("random start" in why for _, why in at_once)


def test_the_rest_follows_the_devices_that_the_first_are_like() -> None:
    first = [row for row, _ in LIVE.first()]
    found = []
    for device in range(KNOWN.shape[1]):
        told = {POOL[row].name: float(KNOWN[row, device]) for row in first}
        rest = LIVE.more(told)
        assert len(rest) == 6
        assert not {row for row, _ in rest} & set(first)
        found.append(tuple(row for row, _ in rest))
        # Nothing is asked for beyond the budget.
        assert LIVE.more(told | {POOL[row].name: 1.0 for row, _ in rest}) == []
    assert len(set(found)) > 1


def test_a_network_that_failed_is_spent_and_not_chosen_again() -> None:
    first = [row for row, _ in LIVE.first()]
    told = {POOL[row].name: math.nan for row in first}
    rest = [row for row, _ in LIVE.more(told)]
    assert len(rest) == 6
    assert not set(rest) & set(first)


def test_the_adaptive_selector_looks_again_after_each_round() -> None:
    choosing = Choosing(
        PlanRequest(target=BOARD, probes=8, selector=ADAPTIVE, live=True),
        POOL,
        beliefs=Beliefs(WORKS),
    )
    first = choosing.first()
    assert len(first) == ROUND
    told = {POOL[row].name: 1.0 for row, _ in first}
    second = choosing.more(told)
    assert len(second) == ROUND
    assert not {row for row, _ in second} & {row for row, _ in first}
    told |= {POOL[row].name: 1.0 for row, _ in second}
    assert len(choosing.more(told)) == 8 - 2 * ROUND  # no more than the budget
    assert len(asking(choosing, live=False).first()) == 8


def test_the_adaptive_selector_stops_at_the_width_that_is_wished() -> None:
    asked = belief(0.1)
    width = half_width(asked)
    # The middle one of the networks: the 80 % interval reaches Z80 standard deviations up.
    assert width == pytest.approx(math.expm1(Z80 * float(np.median(asked.spread))))
    told = {POOL[row].name: 1.0 for row in range(3)}
    request = PlanRequest(target=BOARD, probes=12, selector=ADAPTIVE, live=True)
    choosing = Choosing(request, POOL, beliefs=Beliefs(WORKS, belief=asked))
    assert asking(choosing, within=width * 1.01).more(told) == []
    assert len(asking(choosing, within=width * 0.99).more(told)) == ROUND


def test_without_intervals_the_adaptive_selector_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="selector adaptive: the engine gives no intervals"):
        Choosing(PlanRequest(target=BOARD, probes=8, selector=ADAPTIVE), POOL).first()
