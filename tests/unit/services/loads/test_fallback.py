"""Operators that a runtime leaves to the processor: what crosses, what each unit pays."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Basis, Device, Precision
from predictor.core.run_facts import ON_PROCESSOR, Unsupported
from predictor.core.toml_tables import TomlTables
from predictor.cost.support import support_lists
from predictor.graph.operator_graph import OperatorFlag
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.loads import fallback as module
from predictor.services.loads.boxes import box_of_devices, named_box
from predictor.services.loads.carry import carry
from predictor.services.loads.costs import Fallback, RunCost, run_costs, target_of
from predictor.services.loads.fallback import crossing_bytes, falling, run_costs_on
from predictor.services.loads.models import model_key
from predictor.services.loads.placement import alone_ms, best_assignment, simulation_of
from predictor.services.loads.records import Box, Load, Stage, Stream, Unit
from predictor.services.prediction.explain import explain
from tests.support.models import model_of
from tests.support.operator_graphs import Named, graph_of
from tests.support.run_costs import cost

_ERF = frozenset({"Erf"})
_BOX = named_box("n100-coral", load_catalogue())
_STAGE = Stage(line=1, name="read", model="net.onnx", unit="npu")
# 64 x 64 x 4 floats cross before Erf and after it; it moves 10 bytes each way by its own count.
_MODEL = model_of([
    Named(shape=(1, 4, 64, 64), macs=4_000_000), Named("Erf", (1, 4, 64, 64), macs=0),
    Named(shape=(1, 4, 64, 64), macs=4_000_000),
])  # fmt: skip


def test_parts_and_views_are_where_what_they_belong_to_is() -> None:
    # Conv with its Relu, Erf, a view of it, and a Conv that reads the view.
    kinds = ["Conv", "Relu", "Erf", "Reshape", "Conv"]
    graph = graph_of([Named(kind, (1, 8, 4, 4)) for kind in kinds])
    flags = np.array([0, OperatorFlag.FUSED, 0, OperatorFlag.VIEW, 0], np.uint16)
    fused = np.array([-1, 0, -1, -1, -1], np.int32)
    graph = replace(graph, flags=flags, fused_into=fused)
    falls = falling(graph, _ERF)
    assert falls.tolist() == [False, False, True, True, False]
    # Once to the processor and once back: 128 numbers of 4 bytes, or of one.
    assert crossing_bytes(graph, falls, Precision.FP32).tolist() == [512.0, 512.0]
    assert crossing_bytes(graph, falls, Precision.INT8).tolist() == [128.0, 128.0]


def test_a_tensor_that_two_operators_read_crosses_once() -> None:
    graph = graph_of([Named("Conv", (1, 8)), Named("Erf", (1, 8)), Named("Erf", (1, 8))])
    graph = replace(graph, edges=np.array([[0, 0], [1, 2]], np.int32))
    assert crossing_bytes(graph, falling(graph, _ERF), Precision.FP32).tolist() == [32.0]


def test_a_run_pays_for_the_processor_and_for_what_crosses() -> None:
    (whole,) = run_costs(_STAGE, _MODEL, [(_BOX, _BOX.units["npu"])])
    (parted,) = run_costs_on(_STAGE, _MODEL, [(_BOX, _BOX.units["npu"])])
    fallback = parted.fallback
    assert fallback is not None
    assert (fallback.unit, fallback.types, fallback.operators) == ("cpu", ("Erf",), 1)
    # Two tensors of 16,384 bytes in INT8 over the link of the stick, 15 us a start.
    link = 1e9 * (_BOX.units["npu"].device.metric("host_link_gbps") or 0.0)
    assert (fallback.transfers, fallback.transfer_bytes) == (2, 32768.0)
    assert fallback.transfer_ms == pytest.approx(1000 * (32768 / link + 2 * 15e-6))
    # Erf takes its part of the processor's run in place of that of the NPU's.
    erf_ms = explain(_MODEL, target_of(_STAGE, _BOX.units["npu"])).latency_ms[1]
    expected = whole.batch_ms[0] - erf_ms + fallback.transfer_ms
    assert parted.batch_ms[0] == pytest.approx(expected)
    assert parted.prediction.latency_ms == pytest.approx(expected)
    on_cpu = target_of(replace(_STAGE, runtime="tflite"), _BOX.units["cpu"])
    there_ms = explain(_MODEL, on_cpu).latency_ms[1]
    assert parted.processor_ms == pytest.approx(max(there_ms, 1000 * 20 / 38.4e9), rel=1e-3)
    assert parted.energy_mj is None


def test_what_needs_no_processor_or_has_none_is_as_before() -> None:
    npu = _BOX.units["npu"]
    plain = model_of([Named(macs=1_000_000)] * 3)
    assert run_costs_on(_STAGE, plain, [(_BOX, npu)])[0].fallback is None
    alone = box_of_devices([npu.device])
    (cost_alone,) = run_costs_on(_STAGE, _MODEL, [(alone, alone.units["npu"])])
    assert cost_alone.fallback is None
    assert cost_alone.prediction.unsupported is not None


def test_a_measured_run_has_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = run_costs(_STAGE, _MODEL, [(_BOX, _BOX.units["npu"])])
    measured = replace(whole, prediction=replace(whole.prediction, basis=Basis.MEASURED))
    monkeypatch.setattr(module, "run_costs", lambda *_: [measured])
    assert run_costs_on(_STAGE, _MODEL, [(_BOX, _BOX.units["npu"])]) == [measured]


def test_every_list_says_whether_the_model_runs_at_all() -> None:
    for entry in support_lists():
        assert entry.otherwise == ON_PROCESSOR or entry.otherwise.startswith("the model is not")


def _unit(name: str, family: Family, bandwidth: float = 10.0) -> Unit:
    metrics = {"dram_bw_gbps": bandwidth}
    return Unit(name, Device(id=name, name=name, vendor="", family=family, metrics=metrics))


_FAMILIES = {"gpu": Family.GPU, "npu": Family.NPU, "cpu": Family.CPU}
_UNITS = Box(id="box", name="Box", units={name: _unit(name, of) for name, of in _FAMILIES.items()})


def _fallen(ms: float, processor_ms: float) -> RunCost:
    fallback = Fallback(unit="cpu", types=("Erf",), operators=1, transfers=2, transfer_bytes=1e6,
                        transfer_ms=0.5, cost=cost(processor_ms, name="on cpu"))  # fmt: skip
    return replace(cost(ms), fallback=fallback)


def _load(*stages: Stage, rate: float = 50.0) -> Load:
    stream = Stream(line=1, name="camera", rate_per_s=rate, deadline_ms=100.0, stages=stages)
    return Load(file=TomlTables(Path("load.toml"), {}, [], "fix it"), streams=(stream,), draws=4)


def _staged(name: str, unit: str = "npu", after: tuple[str, ...] = ()) -> Stage:
    return Stage(line=1, name=name, model=f"{name}.onnx", unit=unit, after=after)


def test_an_item_passes_the_unit_then_the_processor_then_what_follows() -> None:
    # 50 a second: 4 ms of the NPU, 6 ms of the processor, then 1 ms of the GPU.
    load = _load(_staged("a"), _staged("b", "gpu", ("a",)))
    costs = {(0, 0): {"npu": _fallen(4.0, 6.0)}, (0, 1): {"gpu": cost(1.0)}}
    assignment = (("npu", "gpu"),)
    simulation = simulation_of(load, _UNITS, assignment, costs, 4)
    demand = simulation.demand(None, simulation.stated)
    assert demand == pytest.approx([0.05, 0.2, 0.3])
    drawn = simulation.run(0, simulation.stated, 200)
    assert drawn.latency_ms[0] == pytest.approx(11.0)
    assert drawn.utilisation == pytest.approx([0.05, 0.2, 0.3], rel=0.02)
    row = [costs[0, 0]["npu"], costs[0, 1]["gpu"]]
    assert alone_ms(load.streams[0], row, _UNITS, assignment[0]) == pytest.approx(11.0)


def test_a_placement_pays_for_what_falls_back() -> None:
    load = _load(_staged("a", "auto"))
    npu = {"npu": cost(4.0), "gpu": cost(8.0)}
    assert best_assignment(load, _UNITS, {(0, 0): npu}) == (("npu",),)
    # The processor would be busy for half of its time, the GPU for 40 % of it.
    npu = {**npu, "npu": _fallen(4.0, 10.0)}
    assert best_assignment(load, _UNITS, {(0, 0): npu}) == (("gpu",),)


def test_a_unit_that_does_not_run_the_model_is_the_last_choice() -> None:
    load = _load(_staged("a", "auto"))
    refused = Unsupported(("e",), ("Erf",), "TensorRT", "the model is not converted", "")
    fast = cost(1.0)
    broken = replace(fast, prediction=replace(fast.prediction, unsupported=refused))
    assert best_assignment(load, _UNITS, {(0, 0): {"gpu": broken, "npu": cost(9.0)}}) == (("npu",),)
    assert best_assignment(load, _UNITS, {(0, 0): {"gpu": broken}}) == (("gpu",),)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.1, 15.0), st.floats(0.1, 15.0), st.floats(1.0, 4.0))
def test_more_on_the_processor_is_never_faster(
    ms: float, processor_ms: float, factor: float
) -> None:
    load = _load(_staged("a"), _staged("b", "cpu"))
    drawn = []
    for times in (1.0, factor):
        costs = {(0, 0): {"npu": _fallen(ms, times * processor_ms)}, (0, 1): {"cpu": cost(1.0)}}
        simulation = simulation_of(load, _UNITS, (("npu", "cpu"),), costs, 1)
        demand = simulation.demand(None, simulation.stated)
        drawn.append((simulation.run(0, simulation.stated, 100), demand))
    p90s = [np.quantile(run.latency_ms[0], 0.9, method="inverted_cdf") for run, _ in drawn]
    assert p90s[1] >= p90s[0] - 1e-9
    assert (drawn[1][1] >= drawn[0][1]).all()


def test_a_processor_that_binds_is_said_with_its_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = replace(_STAGE, batch=1)
    stream = Stream(line=1, name="camera", rate_per_s=20.0, deadline_ms=400.0, stages=(stage,))
    load = Load(file=TomlTables(Path("load.toml"), {}, [], "fix it"), streams=(stream,), draws=4)
    monkeypatch.setattr(
        "predictor.services.loads.carry.stage_costs",
        lambda _, __, places, *___: [_fallen(4.0, 30.0) for _ in places],
    )
    answer = carry(load, _BOX, {model_key(stage): _MODEL})
    assert (answer.binding.stage.name, answer.binding.unit) == ("read", "cpu")
    assert answer.binding.share == pytest.approx(0.6)
    busy = {unit.name: unit.utilisation.median for unit in answer.units}
    assert busy["cpu"] == pytest.approx(0.6, rel=0.05)
    assert busy["npu"] == pytest.approx(0.08, rel=0.05)
