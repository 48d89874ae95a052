"""Searches for the largest load: what they find, and how many draws they simulate."""

from dataclasses import replace
from pathlib import Path

import pytest

from predictor.core.toml_tables import TomlTables
from predictor.devices.catalogue import load_device_files
from predictor.services.loads import carry as carrying
from predictor.services.loads.boxes import box_of_devices
from predictor.services.loads.carry import costs_of, model_key
from predictor.services.loads.costs import Evidence, RunCost, run_costs
from predictor.services.loads.limits import Limits
from predictor.services.loads.records import Load, Stage, Stream
from predictor.services.loads.simulate import Draw, Scaled, Simulation
from tests.support.graphs import Op
from tests.support.models import make_model
from tests.support.run_costs import cost

_DEVICES = {entry.device.id: entry.device for entry in load_device_files()}
_BOX = box_of_devices([_DEVICES["rtx3060"]])
(_UNIT,) = _BOX.units
_MOST = 13  # draws of a try: the one that decides and six on each side


def _stage(name: str) -> Stage:
    return Stage(line=1, name=name, model="net.onnx", unit=_UNIT)


def _load(count: int) -> Load:
    """Return different streams with a model of a stage each."""
    streams = tuple(
        Stream(
            line=1,
            name=f"camera {i}",
            rate_per_s=4.0 + i,
            arrival="poisson" if i % 2 else "periodic",
            deadline_ms=40.0 + 7 * i,
            stages=(_stage(f"detect {i}"),),
        )
        for i in range(count)
    )
    return Load(file=TomlTables(Path("load.toml"), {}, [], ""), streams=streams)


def _simulation(load: Load) -> Simulation:
    costs = [[cost(4.0, 0.3, name=stream.name)] for stream in load.streams]
    units = [[_UNIT] for _ in load.streams]
    return Simulation(load.streams, _BOX, units, costs, load.seed, load.draws)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the draws that are simulated, as they come."""
    draws: list[int] = []
    run = Simulation.run

    def counted(simulation: Simulation, draw: int, load: Scaled, items: int) -> Draw:
        draws.append(draw)
        return run(simulation, draw, load, items)

    monkeypatch.setattr(Simulation, "run", counted)
    return draws


def test_the_draws_that_decide_say_what_all_of_them_say() -> None:
    load = _load(4)
    simulation = _simulation(load)
    limits = Limits(load, ((_UNIT,),) * 4, simulation, lambda: None)
    decided = set()
    for factor in (1.0, 3.0, 6.0, 12.0, 30.0):
        scaled = Scaled(factor, simulation.stated.counts)
        chance = simulation.chance(scaled, 500)
        if abs(chance - load.chance) > 0.08:  # as good as the order of the draws is
            assert limits.holds(scaled) == (chance >= load.chance)
            decided.add(limits.holds(scaled))
    assert decided == {True, False}


def test_a_try_simulates_the_draws_around_the_one_that_decides(drawn: list[int]) -> None:
    load = _load(4)
    tries: list[int] = []
    limits = Limits(load, ((_UNIT,),) * 4, _simulation(load), lambda: tries.append(len(drawn)))
    assert limits.largest_factor() > 1
    counts = [limits.largest_count(i) for i in range(4)]
    assert all(count > 1 for count in counts)
    assert len(tries) > 8
    steps = [end - start for start, end in zip(tries, [*tries[1:], len(drawn)], strict=True)]
    assert max(steps) <= _MOST
    assert sum(steps) < load.draws * len(tries) / 3


def test_without_a_deadline_a_full_unit_is_the_limit(drawn: list[int]) -> None:
    stream = replace(_load(1).streams[0], deadline_ms=None)
    load = replace(_load(1), streams=(stream,))
    simulation = _simulation(load)
    limits = Limits(load, ((_UNIT,),), simulation, lambda: None)
    factor = limits.largest_factor()
    full = (simulation.demands(simulation.stated).max(axis=1) * factor < 1).mean()
    assert full == pytest.approx(load.chance, abs=0.05)
    assert drawn


def test_demands_of_all_draws_are_those_of_each() -> None:
    load = _load(3)
    simulation = _simulation(load)
    scaled = Scaled(1.7, (1, 4, 2))
    together = simulation.demands(scaled)
    for draw in (0, 7, 39):
        assert together[draw] == pytest.approx(simulation.demand(draw, scaled))


def test_stages_of_one_kind_are_predicted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Stage] = []

    def counted(stage: Stage, *others: object) -> list[RunCost]:
        calls.append(stage)
        return run_costs(stage, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(carrying, "stage_costs", counted)
    load = _load(16)
    batched = replace(load.streams[0], stages=(replace(_stage("more"), batch=2),))
    load = replace(load, streams=(*load.streams, batched))
    model = make_model(*[Op(macs=50_000_000, read=400_000, weights=200_000, written=400_000)] * 4)
    (costs,) = costs_of(load, [_BOX], {model_key(_stage("any")): model}, Evidence())
    assert len(costs) == 17
    assert len(calls) == 2
