"""Boxes that carry a load: bounds first, then the simulation, the fewest joules first."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predictor.core.metrics import Family
from predictor.core.records import Device, OperatingPoint
from predictor.core.toml_tables import TomlTables
from predictor.services.loads import choice
from predictor.services.loads.choice import choose_box, in_modes
from predictor.services.loads.costs import RunCost
from predictor.services.loads.records import Box, Load, Stage, Stream, Unit
from predictor.services.loads.simulate import Simulation
from tests.support.run_costs import cost

_MODES = (
    OperatingPoint(name="10W", power_w=10.0, source=""),
    OperatingPoint(name="20W", power_w=20.0, source=""),
)


def _box(name: str, unit: str = "gpu", modes: tuple[OperatingPoint, ...] = ()) -> Box:
    device = Device(
        id=name, name=name, vendor="", family=Family.GPU, metrics={}, operating_points=modes
    )
    return Box(id=name, name=name, units={unit: Unit(unit, device)})


def _load(rate: float = 50.0) -> Load:
    stage = Stage(line=2, name="detect", model="detect.onnx", unit="gpu")
    stream = Stream(line=1, name="camera", rate_per_s=rate, deadline_ms=50.0, stages=(stage,))
    return Load(file=TomlTables(Path("load.toml"), {}, [], "fix it"), streams=(stream,), draws=10)


def _with_latencies(
    monkeypatch: pytest.MonkeyPatch,
    latencies: dict[str, float],
    joules: dict[str, float] | None = None,
) -> None:
    def run(name: str) -> RunCost:
        mj = (joules or {}).get(name)
        energy = None if mj is None else (mj, mj, mj)
        is_board = mj is not None and name != "pc"
        return replace(cost(latencies[name]), energy_mj=energy, of_board=is_board)

    def costs_of(load: Load, boxes: list[Box], *_: Any) -> list[Any]:
        return [{(0, 0): {"gpu": run(box.id + box.mode)}} for box in boxes]

    monkeypatch.setattr(choice, "costs_of", costs_of)


def test_a_box_runs_in_its_modes_that_state_a_power() -> None:
    free = OperatingPoint(name="MAXN", source="")
    box = _box("orin", modes=(*_MODES, free))
    assert [entry.mode for entry in in_modes(box)] == ["", "10W", "20W"]
    assert [entry.mode for entry in in_modes(replace(box, mode="10W"))] == ["10W"]


def test_those_that_hold_come_by_their_joules(monkeypatch: pytest.MonkeyPatch) -> None:
    latencies = {"orin": 4.0, "orin10W": 60.0, "orin20W": 8.0, "pc": 1.0, "slow": 25.0}
    # A card takes less, but that is not all of its machine; of the usual clocks nothing is known.
    joules = {"orin10W": 9.0, "orin20W": 40.0, "pc": 1.0}
    _with_latencies(monkeypatch, latencies, joules)
    boxes = [_box("slow"), _box("pc"), _box("orin", modes=_MODES), _box("npu", "npu")]
    choice_of = choose_box(_load(), boxes, {})
    candidates = choice_of.candidates
    assert (choice_of.holding, choice_of.passing, choice_of.considered) == (3, 3, 6)
    ranked = [(entry.box.id, entry.box.mode) for entry in candidates]
    # The modes of a box stand side by side.
    assert ranked[:3] == [("orin", "20W"), ("orin", ""), ("pc", "")]
    assert [entry.run_watts for entry in candidates[:3]] == [2.0, None, 0.05]
    assert [entry.of_board for entry in candidates[:3]] == [True, False, False]
    assert [entry.holds(_load()) for entry in candidates] == [True] * 3 + [False] * 3
    problems = {(entry.box.id, entry.box.mode): entry.problem for entry in candidates}
    assert problems["orin", "10W"] == "gpu has more to do than it can"
    assert problems["npu", ""] == "npu has no unit gpu; it has npu"


def test_what_fails_the_bounds_is_not_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_latencies(monkeypatch, {"slow": 25.0})
    monkeypatch.setattr(Simulation, "run", None)
    (candidate,) = choose_box(_load(rate=100.0), [_box("slow")], {}).candidates
    assert (candidate.chance, candidate.busiest) == (0.0, 2.5)


def test_no_more_are_simulated_than_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_latencies(monkeypatch, {"orin": 4.0, "orin10W": 12.0, "orin20W": 8.0})
    chosen = choose_box(_load(), [_box("orin", modes=_MODES)], {}, limit=1)
    assert [candidate.box.mode for candidate in chosen.candidates] == ["10W"]
    assert (chosen.passing, chosen.considered) == (3, 3)
