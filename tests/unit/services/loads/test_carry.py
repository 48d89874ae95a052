"""Loads on boxes with latencies by hand: demand, chance, contention, placement."""

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device
from predictor.core.run_facts import Spread, Tail
from predictor.core.toml_tables import KeyedError, TomlTables
from predictor.services.loads import placement
from predictor.services.loads.costs import RunCost, runs_at_once
from predictor.services.loads.placement import alone_ms, best_assignment, simulation_of
from predictor.services.loads.records import Box, Load, Stage, Stream, Unit
from predictor.services.loads.simulate import Scaled, Simulation, slow_runs
from tests.support.predictions import prediction
from tests.support.run_costs import cost

_ITEMS = 400


def _device(name: str, **metrics: float) -> Device:
    return Device(id=name, name=name, vendor="", family=Family.GPU, metrics=metrics)


_GPU = Unit("gpu", _device("a-gpu", dram_bw_gbps=10.0, dram_gb=8.0))
_NPU = Unit("npu", _device("a-npu", dram_bw_gbps=10.0), 2)
_CARD = Unit("card", _device("a-card", dram_gb=4.0, host_link_gbps=8.0, dram_bw_gbps=500.0))
_BOX = Box(id="box", name="Box", units={"gpu": _GPU, "npu": _NPU, "card": _CARD})


def _stage(name: str = "detect", unit: str = "gpu", **facts: Any) -> Stage:
    return replace(Stage(line=1, name=name, model=f"{name}.onnx", unit=unit), **facts)


def _stream(*stages: Stage, rate: float = 50.0, **facts: Any) -> Stream:
    stream = Stream(line=1, name="camera", rate_per_s=rate, deadline_ms=100.0, stages=stages)
    return replace(stream, **facts)


def _load(*streams: Stream) -> Load:
    return Load(file=TomlTables(Path("load.toml"), {}, [], "fix it"), streams=streams)


def _simulation(*streams: Stream, costs: list[list[RunCost]], draws: int = 40) -> Simulation:
    units = [[stage.unit for stage in stream.stages] for stream in streams]
    return Simulation(streams, _BOX, units, costs, 0, draws)


def test_demand_is_rate_times_runs_times_latency_over_the_units() -> None:
    stream = _stream(_stage(), _stage("crops", "npu", per_item=3.0), count=2)
    simulation = _simulation(stream, costs=[[cost(4.0), cost(8.0)]])
    demand = simulation.demand(None, simulation.stated)
    assert demand == pytest.approx([100 * 0.004, 100 * 3 * 0.008 / 2, 0.0])
    assert simulation.demand(None, Scaled(2.0, (1,))) == pytest.approx(demand)


def test_demand_counts_full_batches() -> None:
    stream = _stream(_stage(batch=4, delay_ms=5.0))
    simulation = _simulation(stream, costs=[[cost([4.0, 5.0, 6.0, 8.0])]])
    assert simulation.demand(None, simulation.stated)[0] == pytest.approx(50 * 0.008 / 4)


def test_without_uncertainty_a_periodic_stream_takes_its_latency() -> None:
    simulation = _simulation(_stream(_stage()), costs=[[cost(4.0)]])
    drawn = simulation.run(0, simulation.stated, _ITEMS)
    assert drawn.latency_ms[0] == pytest.approx(4.0)
    assert drawn.utilisation[0] == pytest.approx(0.2, rel=0.02)
    assert simulation.chance(simulation.stated, _ITEMS) == 1.0


def test_the_chance_is_that_of_the_level() -> None:
    # Alone on the unit: it holds where the drawn latency is under the deadline.
    stream = _stream(_stage(), rate=0.1, deadline_ms=12.0, share=0.5)
    simulation = _simulation(stream, costs=[[cost(10.0, deviation=0.3)]], draws=1000)
    expected = 0.5 * math.erfc(-math.log(1.2) / 0.3 / math.sqrt(2))
    assert simulation.chance(simulation.stated, 100) == pytest.approx(expected, abs=0.05)


def test_models_on_one_unit_err_together_and_on_two_apart() -> None:
    stream = _stream(_stage("a"), _stage("b"), _stage("c", "npu"))
    costs = [[cost(1.0, 0.3, name=name) for name in "abc"]]
    logs = np.log(_simulation(stream, costs=costs, draws=4000).levels[0])
    correlation = np.corrcoef(logs)
    assert correlation[0, 1] == pytest.approx(0.5, abs=0.05)
    assert correlation[0, 2] == pytest.approx(0.0, abs=0.05)
    assert logs.std(axis=1) == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize("draws", [20, 21])
def test_draws_are_in_opposite_pairs(draws: int) -> None:
    simulation = _simulation(_stream(_stage()), costs=[[cost(10.0, deviation=0.3)]], draws=draws)
    (levels,) = simulation.levels[0]
    logs = np.log(levels)
    assert logs[:10] == pytest.approx(-logs[10:20])
    assert np.median(levels) == pytest.approx(1.0, abs=0.05)
    assert len(levels) == draws


def test_no_draw_is_faster_than_the_bound() -> None:
    predicted = cost(10.0, 0.5)
    bounded = replace(predicted, prediction=replace(predicted.prediction, bound_ms=8.0))
    simulation = _simulation(_stream(_stage()), costs=[[bounded]], draws=500)
    assert simulation.levels[0][0].min() == pytest.approx(0.8)


def test_more_work_than_a_unit_can_do_never_holds() -> None:
    simulation = _simulation(_stream(_stage(), rate=300.0, deadline_ms=None), costs=[[cost(4.0)]])
    drawn = simulation.run(0, simulation.stated, _ITEMS)
    assert np.isinf(drawn.latency_ms[0]).all()
    assert drawn.utilisation[0] == pytest.approx(1.2)
    assert simulation.chance(simulation.stated, _ITEMS) == 0.0


def test_units_that_share_memory_slow_one_another_and_cards_do_not() -> None:
    # The NPU takes half of 10 GB/s: a run of 20 MB on the GPU waits as long as it reads, 2 ms.
    npu = _stream(_stage("b", "npu"), rate=50.0)
    costs = [[cost(4.0, traffic=20e6)], [cost(10.0, traffic=100e6)]]
    simulation = _simulation(_stream(_stage(), rate=0.01), npu, costs=costs)
    assert simulation.demand(None, simulation.stated)[0] == pytest.approx(0.01 * 0.006, rel=0.01)
    card = _stream(_stage("b", "card"), rate=50.0)
    simulation = _simulation(_stream(_stage(), rate=0.01), card, costs=costs)
    assert simulation.demand(None, simulation.stated)[0] == pytest.approx(0.01 * 0.004, rel=0.01)


def test_slow_runs_have_the_percentiles_of_the_prediction() -> None:
    spread = Spread(Tail(1.2, 0.1), Tail(1.8, 0.2))
    factors = slow_runs(spread, np.random.default_rng(0).standard_normal(100_000))
    assert factors is not None
    assert np.quantile(factors, [0.5, 0.9, 0.99]) == pytest.approx([1.0, 1.2, 1.8], rel=0.02)
    assert slow_runs(None, np.zeros(3)) is None


def test_one_seed_gives_one_answer_and_another_another() -> None:
    stream = _stream(_stage(), arrival="poisson", rate=150.0)
    one = _simulation(stream, costs=[[cost(4.0, 0.2)]])
    again = _simulation(stream, costs=[[cost(4.0, 0.2)]])
    first, second = (s.run(3, s.stated, _ITEMS).latency_ms[0] for s in (one, again))
    assert (first == second).all()
    assert (one.run(4, one.stated, _ITEMS).latency_ms[0] != first).any()


@pytest.mark.parametrize("arrival", ["periodic", "poisson"])
def test_a_larger_factor_never_holds_with_a_higher_chance(arrival: str) -> None:
    stream = _stream(_stage(), arrival=arrival, count=3, deadline_ms=15.0)
    simulation = _simulation(stream, costs=[[cost(4.0, 0.3)]], draws=20)
    chances = [simulation.chance(Scaled(f, (3,)), _ITEMS) for f in (0.2, 0.6, 1.0, 1.4, 2.0)]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > chances[-1]


def test_an_open_stage_goes_where_it_leaves_the_most_room() -> None:
    detect, crops = _stage("detect", "auto"), _stage("crops", "auto", after=("detect",))
    load = _load(_stream(detect, crops))
    costs = {
        (0, 0): {"gpu": cost(4.0), "npu": cost(5.0), "card": cost(30.0)},
        (0, 1): {"gpu": cost(4.0), "npu": cost(16.0), "card": cost(30.0)},
    }
    # Both on the GPU takes 40 % of it, 12.5 % and 20 % apart.
    assert best_assignment(load, _BOX, costs) == (("npu", "gpu"),)
    nowhere = prediction(None)
    without = {(0, 0): costs[0, 0], (0, 1): {"gpu": replace(cost(1.0), prediction=nowhere)}}
    with pytest.raises(KeyedError, match="no unit has a number for crops") as refused:
        best_assignment(load, _BOX, without)
    assert refused.value.key == "model"
    nowhere = replace(nowhere, problem="not supported: it does not run rknn")
    detect = replace(detect, runtime="rknn")
    without = {(0, 0): {"gpu": replace(cost(1.0), prediction=nowhere)}, (0, 1): costs[0, 1]}
    with pytest.raises(KeyedError, match="no unit has a number for detect") as refused:
        best_assignment(_load(_stream(detect, crops)), _BOX, without)
    assert refused.value.key == "runtime"


def test_the_best_of_all_assignments_is_returned() -> None:
    random = np.random.default_rng(5)
    stages = [_stage(f"s{i}", "auto") for i in range(3)]
    load = _load(_stream(*stages, deadline_ms=60.0))
    costs = {
        (0, j): {name: cost(float(random.uniform(1, 30))) for name in _BOX.units} for j in range(3)
    }

    def strain(names: tuple[str, ...]) -> float:
        simulation = simulation_of(load, _BOX, (names,), costs, 1)
        row = [costs[0, j][name] for j, name in enumerate(names)]
        alone = alone_ms(load.streams[0], row, _BOX, names) / 60.0
        return max(float(simulation.demand(None, simulation.stated).max()), alone)

    candidates = [(a, b, c) for a in _BOX.units for b in _BOX.units for c in _BOX.units]
    assert best_assignment(load, _BOX, costs) == (min(candidates, key=strain),)


def test_sixteen_equal_streams_are_spread_over_the_units() -> None:
    streams = [_stream(_stage("detect", "auto"), rate=10.0, name=f"s{i}") for i in range(16)]
    # 8 % of the GPU a stage, 10 % of the two NPUs, 30 % of the card: 7, 6 and 3 would take 0.9,
    # 8, 7 and 1 take 0.7, and of 8, 6 and 2 the GPU has most to do with 0.64.
    costs = {(i, 0): {"gpu": cost(8.0), "npu": cost(20.0), "card": cost(30.0)} for i in range(16)}
    (names,) = zip(*best_assignment(_load(*streams), _BOX, costs), strict=True)
    assert [names.count(name) for name in _BOX.units] == [8, 6, 2]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from([3.0, 7.0]), min_size=1, max_size=3),
            st.sampled_from([None, 40.0]),
            st.sampled_from(["row", "side by side", "last waits"]),
            st.sampled_from([1.0, 3.0]),
        ),
        min_size=1,
        max_size=3,
    ).filter(lambda streams: sum(len(stream[0]) for stream in streams) <= 6)
)
def test_whatever_is_alike_the_best_assignment_is_found(
    drawn: list[tuple[list[float], float | None, str, float]],
) -> None:
    streams, costs = [], {}
    for i, (times_ms, deadline_ms, shape, per_item) in enumerate(drawn):
        names = [f"s{j}" for j in range(len(times_ms))]
        shapes: dict[str, list[list[str]]] = {
            "row": [names[max(j - 1, 0) : j] for j in range(len(names))],
            "side by side": [[] for _ in names],
            "last waits": [*([] for _ in names[1:]), names[:-1]],
        }
        stages = [
            _stage(name, "auto", after=tuple(others), per_item=per_item)
            for name, others in zip(names, shapes[shape], strict=True)
        ]
        streams.append(_stream(*stages, name=f"{i}", rate=10.0, deadline_ms=deadline_ms))
        for j, ms in enumerate(times_ms):
            npu = cost(1.5 * ms, traffic=1e6 * ms)
            costs[i, j] = {"gpu": cost(ms, traffic=1e6 * ms), "npu": npu}
    load = _load(*streams)
    box = replace(_BOX, units={"gpu": _GPU, "npu": _NPU})

    def strain(assignment: Any) -> float:
        simulation = simulation_of(load, box, assignment, costs, 1)
        shares = [float(simulation.demand(None, simulation.stated).max())]
        for i, (stream, names) in enumerate(zip(streams, assignment, strict=True)):
            row = [costs[i, j][name] for j, name in enumerate(names)]
            if stream.deadline_ms:
                shares.append(alone_ms(stream, row, box, names) / stream.deadline_ms)
        return max(shares)

    rows = [itertools.product(box.units, repeat=len(stream.stages)) for stream in streams]
    least = min(map(strain, itertools.product(*rows)))
    assert strain(best_assignment(load, box, costs)) == pytest.approx(least, rel=1e-8)


def test_a_search_without_end_names_the_stage_to_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "lowest_strain", lambda _: None)
    costs = {(0, 0): {"gpu": cost(4.0), "npu": cost(5.0)}}
    with pytest.raises(InputError, match="too many assignments of stages to units are alike"):
        best_assignment(_load(_stream(_stage("detect", "auto"))), _BOX, costs)


def test_an_item_alone_takes_the_longest_way() -> None:
    stages = (
        _stage("detect"),
        _stage("crops", "npu", per_item=3.0, after=("detect",)),
        _stage("track", after=("detect",)),
    )
    row = [cost(4.0), cost(5.0), cost(2.0)]
    # Two NPUs take three crops in two turns.
    assert alone_ms(_stream(*stages), row, _BOX, ["gpu", "npu", "gpu"]) == pytest.approx(14.0)


def test_a_batch_that_never_fills_never_ends() -> None:
    slow = _stream(_stage(batch=64, delay_ms=math.inf), rate=1e-6)
    fast = _stream(_stage("b", "npu"), rate=100.0)
    simulation = _simulation(slow, fast, costs=[[cost([4.0] * 64)], [cost(1.0)]], draws=10)
    drawn = simulation.run(0, simulation.stated, _ITEMS)
    assert np.isinf(drawn.latency_ms[0]).all()
    assert simulation.keeps(drawn) == [False, True]


def test_a_stage_of_a_thousand_runs_is_simulated_over_fewer_items() -> None:
    stream = _stream(_stage(per_item=1000.0), rate=1.0, deadline_ms=None)
    drawn = _simulation(stream, costs=[[cost(0.5)]]).run(0, Scaled(1.0, (1,)), 10_000)
    assert 50 < len(drawn.latency_ms[0]) < 200
    assert drawn.latency_ms[0] == pytest.approx(500.0)


def test_threads_that_a_stage_states_let_a_processor_make_several_runs_at_once() -> None:
    cores = Unit("cpu", Device(id="a-cpu", name="a-cpu", vendor="", family=Family.CPU,
                               metrics={"core_count": 8.0}))  # fmt: skip
    box = Box(id="pc", name="PC", units={"cpu": cores})
    stream = _stream(_stage(unit="cpu", threads=2, per_item=4.0))
    rows = [[cost(4.0)]]
    assert runs_at_once(stream.stages[0], cores) == 4
    assert runs_at_once(_stage(unit="cpu"), cores) == 1
    assert runs_at_once(_stage(unit="cpu", threads=16), cores) == 1
    shared = Simulation([stream], box, [["cpu"]], rows, 0, 1)
    assert shared.demand(None, shared.stated)[0] == pytest.approx(50 * 4 * 0.004 / 4)
    # The four runs of an item are made together.
    assert shared.run(0, shared.stated, _ITEMS).latency_ms[0] == pytest.approx(4.0)
    assert alone_ms(stream, rows[0], box, ["cpu"]) == pytest.approx(4.0)
    # Beside a stage on all cores, runs follow one another.
    both = [stream, _stream(_stage("b", unit="cpu"), name="other", rate=1.0)]
    mixed = Simulation(both, box, [["cpu"], ["cpu"]], [*rows, [cost(1.0)]], 0, 1)
    assert mixed.servers[0] == 1.0


def test_cores_of_two_kinds_make_one_run_at_once() -> None:
    slow, fast = (
        Cluster(name=name, cores=4, clock_mhz=clock)
        for name, clock in (("A55", 1800), ("A76", 2400))
    )
    device = replace(_device("rk"), family=Family.MOBILE_CPU, clusters=(fast, slow))
    assert device.core_count == 8
    assert runs_at_once(_stage(unit="cpu", threads=4), Unit("cpu", device)) == 1
