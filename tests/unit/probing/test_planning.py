"""The pool that ships, estimates, and plans made from them."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.errors import HostError, InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Target
from predictor.probing.choice import SELECTORS, PlanRequest
from predictor.probing.estimates import estimated_ms, expected_seconds
from predictor.probing.networks.pool import (
    KINDS,
    KindCost,
    PoolNetwork,
    cost_by_kind,
    graph_features,
    load_pool,
)
from predictor.probing.networks.quick import load_quick
from predictor.probing.networks.spaces import operator_graph_of
from predictor.probing.planning import SENTINEL, fixed_plan, make_plan, max_probes
from predictor.probing.runner.settings import Settings

POOL = load_pool()


def target(name: str, tflops: float = 0.1, gbps: float = 10.0, **more: float) -> Target:
    metrics = {"fp32_tflops": tflops, "dram_bw_gbps": gbps, "core_count": 4, **more}
    device = Device(id=name, name=name, vendor="maker", family=Family.CPU, metrics=metrics)
    return Target(device, Configuration("onnxruntime", threads=4, batch=1))


BOARD = target("board")
KNOWN = estimated_ms(
    POOL, [target("a", 0.1), target("b", 1.0), target("c", 0.1, 100.0), target("d", 5.0, 500.0)]
)


def test_every_network_of_the_pool_is_what_its_code_builds() -> None:
    """A sample of each space; the whole pool is what packaging/make_probes.py writes."""
    by_space: dict[str, list[PoolNetwork]] = {}
    for network in POOL:
        by_space.setdefault(network.space, []).append(network)
    for networks in by_space.values():
        for network in random.Random(0).sample(networks, min(2, len(networks))):  # noqa: S311
            graph = operator_graph_of(network.space, network.code)
            assert network.fingerprint == graph.fingerprint
            assert dict(network.cost) == cost_by_kind(graph)
            assert network.macs == int(graph.macs.sum())
            assert network.parameters == graph.parameters


def test_names_and_graphs_of_the_pool_are_distinct() -> None:
    assert len({network.name for network in POOL}) == len(POOL)
    assert len({network.fingerprint for network in POOL}) == len(POOL)
    assert SENTINEL in {network.name for network in POOL}


def test_a_pool_that_cannot_be_read_is_told(tmp_path: Path) -> None:

    path = tmp_path / "pool.json"
    with pytest.raises(HostError, match="install again"):
        load_pool(path)
    path.write_text(json.dumps({"networks": [{"name": "x"}]}))
    with pytest.raises(HostError, match="install again"):
        load_pool(path)


def network(**cost: KindCost) -> PoolNetwork:
    return PoolNetwork(
        name="n", space="space", code=(), fingerprint="ab" * 32, cost=cost, parameters=1000
    )


def test_an_estimate_by_hand() -> None:
    """0.1 TFLOP/s are 5e10 MACs a second: 5e8 MACs take 10 ms, more than their 1e7 bytes at
    10 GB/s; 1e8 bytes of the others take 10 ms too; 100 launches of 0.2 us on a CPU 0.02 ms."""
    made = network(dense=KindCost(500_000_000, 10_000_000, 60), other=KindCost(0, 10**8, 40))
    assert estimated_ms([made], [BOARD])[0, 0] == pytest.approx(20.02)


def test_a_target_without_a_number_is_nan() -> None:
    unknown = Target(
        Device(id="x", name="x", vendor="maker", family=Family.CPU, metrics={}), BOARD.configuration
    )
    assert np.isnan(estimated_ms([network(dense=KindCost(1, 1, 1))], [unknown])).all()
    assert estimated_ms([network(dense=KindCost(1, 1, 1))], []).shape == (1, 0)


def test_a_probe_of_a_quick_network_takes_its_least_time() -> None:
    """Two blocks of 1 s to start, 0.5 s to warm up and 1 s of timed runs; 0.3 s profiled."""
    assert expected_seconds(1.0, Settings()) == pytest.approx(5.3)
    assert expected_seconds(None, Settings()) == pytest.approx(5.3)


def test_a_probe_of_a_slow_network_takes_its_runs() -> None:
    """Two blocks of 1 s to start, 10 and 11 runs of 1 s; 5 s profiled."""
    assert expected_seconds(1000.0, Settings()) == pytest.approx(49.0)


def test_features_tell_kinds_apart() -> None:
    features = graph_features([network(dense=KindCost(10**6, 4000, 1)), network()])
    assert features.shape == (2, 2 * len(KINDS) + 2)
    assert features[0, 0] == pytest.approx(np.log1p(1000))
    assert (features[1, :-1] == 0).all()


@pytest.mark.parametrize("selector", SELECTORS)
def test_a_plan_names_each_network_once_and_why(selector: str) -> None:
    plan = make_plan(PlanRequest(target=BOARD, probes=12, selector=selector), POOL, KNOWN)
    names = [probe.network.name for probe in plan.probes]
    assert len(set(names)) == 12
    assert all(probe.reason for probe in plan.probes)
    assert plan.sentinel.network.name == SENTINEL


@pytest.mark.parametrize("selector", SELECTORS)
def test_equal_wishes_give_equal_plans(selector: str) -> None:
    first, second = (
        make_plan(PlanRequest(target=BOARD, probes=8, selector=selector, seed=3), POOL, KNOWN)
        for _ in range(2)
    )
    assert first.probes == second.probes
    assert first.id != second.id


def test_another_seed_measures_in_another_order() -> None:
    first, second = (
        make_plan(PlanRequest(target=BOARD, probes=8, selector="dopt", seed=seed), POOL, KNOWN)
        for seed in (0, 1)
    )
    names = [[probe.network.name for probe in plan.probes] for plan in (first, second)]
    assert set(names[0]) == set(names[1])
    assert names[0] != names[1]


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 20), st.floats(60, 900), st.sampled_from(["random", "dopt"]))
def test_a_session_keeps_its_budget_even_with_three_blocks_a_network(
    probes: int, budget_s: float, selector: str
) -> None:
    """Cap, warm-up and start of a block, for three blocks of every network and a profiled pass."""
    try:
        plan = make_plan(
            PlanRequest(target=BOARD, probes=probes, selector=selector, budget_s=budget_s),
            POOL,
            KNOWN,
        )
    except InputError as error:
        assert error.subject == "time budget"  # noqa: PT017
        return
    block_s = plan.settings.cap_s / plan.settings.blocks + plan.settings.warm_up_s + 1.0
    assert block_s * (3 * probes + 3) + 0.3 * probes <= budget_s * 1.000001
    assert plan.settings.cap_s <= Settings().cap_s


def test_of_a_slow_target_so_many_networks_are_measured_as_its_time_allows() -> None:
    assert max_probes(PlanRequest(target=BOARD, probes=12, budget_s=300), POOL) == 12
    # A minute is too short for the protocol, three blocks each, on any target.
    assert 4 <= max_probes(PlanRequest(target=BOARD, probes=12, budget_s=60), POOL) < 12
    slow = PlanRequest(target=target("slow", tflops=1e-5, gbps=1e-3), probes=12, selector="dopt")
    fewer = max_probes(slow, POOL)
    assert 1 < fewer < 12
    assert len(make_plan(replace(slow, probes=fewer), POOL, KNOWN).probes) == fewer
    with pytest.raises(InputError, match="time budget"):
        make_plan(replace(slow, probes=fewer + 1), POOL, KNOWN)
    assert max_probes(PlanRequest(target=BOARD, probes=12, budget_s=1), POOL) == 1


def test_the_networks_of_the_ten_seconds_are_planned_in_their_order() -> None:
    networks = load_quick()
    settings = Settings(blocks=1)
    plan = fixed_plan(PlanRequest(target=target("a")), networks, load_pool(), settings)
    assert [probe.network for probe in plan.probes] == list(networks)
    assert {probe.reason for probe in plan.probes} == {"most informative about all the others"}
    assert (plan.sentinel.network.name, plan.sentinel.reason) == (SENTINEL, "shows drift")
    assert (plan.settings, plan.to_come) == (settings, 0)
    assert all(probe.expected_ms for probe in plan.probes)


def test_a_damaged_list_of_the_ten_seconds_is_named(tmp_path: Path) -> None:
    path = tmp_path / "quick.json"
    for text in ("{", '{"networks": ["no-such-network"]}', '{"networks": 1}'):
        path.write_text(text)
        with pytest.raises(HostError, match=r"quick\.json: it cannot be read"):
            load_quick(path)


def test_twelve_probes_fit_five_minutes() -> None:
    plan = make_plan(PlanRequest(target=BOARD), POOL, KNOWN)
    assert plan.expected_s <= 300
    assert len(plan.probes) == 12


def test_networks_that_are_too_slow_for_the_budget_are_not_chosen() -> None:
    slow = target("slow", tflops=0.0003)
    plan = make_plan(PlanRequest(target=slow, probes=6, selector="dopt"), POOL, KNOWN)
    share_s = 300 / (6 + 1.5)
    for probe in plan.probes:
        assert expected_seconds(probe.expected_ms, plan.settings) <= share_s
    every = make_plan(PlanRequest(target=BOARD, probes=6, selector="dopt"), POOL, KNOWN)
    assert max(p.network.macs for p in plan.probes) < max(p.network.macs for p in every.probes)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (
            PlanRequest(target=BOARD, probes=12, budget_s=30),
            "time budget: 30 s are too short for 12 networks",
        ),
        (PlanRequest(target=BOARD, probes=1000, budget_s=10**6), "probe budget: k is 1000"),
        (
            PlanRequest(target=BOARD, selector="best"),
            "selector best: there is none; give one of dbsel",
        ),
        (
            PlanRequest(target=target("tiny", 1e-6, 1e-4)),
            "are small enough for 12 probes in 300 s on tiny",
        ),
    ],
)
def test_a_wish_that_cannot_be_met_is_one_sentence(wish: PlanRequest, words: str) -> None:
    with pytest.raises(InputError) as error:
        make_plan(wish, POOL, KNOWN)
    assert words in str(error.value)


def test_without_any_estimate_a_plan_is_made_by_features() -> None:
    unknown = Target(
        Device(id="x", name="x", vendor="maker", family=Family.CPU, metrics={}), BOARD.configuration
    )
    plan = make_plan(PlanRequest(target=unknown, probes=4, selector="dopt"), POOL, None)
    assert [probe.expected_ms for probe in plan.probes] == [None] * 4
    with pytest.raises(InputError, match="latencies on training targets"):
        make_plan(PlanRequest(target=unknown, probes=4, selector="dbsel"), POOL, None)


def test_the_cap_is_a_probes() -> None:
    assert make_plan(
        PlanRequest(target=BOARD, probes=1, budget_s=900), POOL, KNOWN
    ).settings == replace(Settings(), cap_s=20.0)
