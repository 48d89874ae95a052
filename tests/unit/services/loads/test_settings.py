"""Modes and clocks that keep a load: the fewest joules first, the lowest clock that holds."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device, OperatingPoint
from predictor.core.toml_tables import TomlTables
from predictor.devices.operating import clocks_of, default_clocks
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.loads import settings as module
from predictor.services.loads.answers import Candidate
from predictor.services.loads.boxes import box_of_load, check_clock, named_box
from predictor.services.loads.costs import RunCost, run_costs
from predictor.services.loads.load_file import load_of_tables
from predictor.services.loads.records import Box, Load, Stage, Stream, Unit
from predictor.services.loads.settings import settings_of
from tests.support.graphs import Op
from tests.support.models import make_model
from tests.support.run_costs import cost

_CATALOGUE = load_catalogue()
_CLOCKS = (200.0, 300.0, 450.0, 600.0, 800.0, 1000.0)


def _box(modes: dict[str, float | None], clocks: tuple[float, ...] = ()) -> Box:
    points = [OperatingPoint(name=name, power_w=watts, source="") for name, watts in modes.items()]
    points += [OperatingPoint(name=f"GPU {mhz:g} MHz", gpu_mhz=mhz, source="") for mhz in clocks]
    metrics = {"boost_clock_mhz": max(clocks)} if clocks else {}
    device = Device(id="gpu", name="GPU", vendor="", family=Family.GPU, metrics=metrics,
                    operating_points=tuple(points))  # fmt: skip
    return Box(id="box", name="Box", units={"gpu": Unit("gpu", device)})


def _load(deadline_ms: float = 50.0, chance: float = 0.9, draws: int = 10) -> Load:
    stage = Stage(line=2, name="detect", model="detect.onnx", unit="gpu")
    stream = Stream(line=1, name="camera", rate_per_s=50.0, deadline_ms=deadline_ms,
                    stages=(stage,))  # fmt: skip
    file = TomlTables(Path("load.toml"), {}, [], "fix it")
    return Load(file=file, streams=(stream,), draws=draws, chance=chance)


def _costed(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    def costs_of(_: Load, boxes: list[Box], *rest: Any) -> list[Any]:
        return [{(0, 0): {"gpu": run(box)}} for box in boxes]

    monkeypatch.setattr(module, "costs_of", costs_of)


def _drawing(ms: float, mj: float | None) -> RunCost:
    energy = None if mj is None else (mj, mj, mj)
    return replace(cost(ms), energy_mj=energy, of_board=True)


def test_modes_come_by_their_joules_not_by_their_watts(monkeypatch: pytest.MonkeyPatch) -> None:
    # 50 runs a second: of 60 mJ 3 W, of 40 mJ 2 W. 25 ms a run is more than there is time for.
    runs = {"": (3.0, None), "10W": (25.0, 10.0), "15W": (8.0, 60.0), "20W": (4.0, 40.0)}
    _costed(monkeypatch, lambda box: _drawing(*runs[box.mode]))
    box = replace(_box({"10W": 10.0, "15W": 15.0, "20W": 20.0}), mode="15W")
    found = settings_of(_load(), box, ["gpu"], {})
    assert [mode.box.mode for mode in found.modes] == ["20W", "15W", "", "10W"]
    assert [mode.joules_per_hour for mode in found.modes[:3]] == [7200.0, 10800.0, None]
    assert found.thriftiest is found.modes[0]
    assert found.modes[3].problem == "gpu has more to do than it can"
    assert (found.chance, found.clocks) == (0.95, ())


def test_where_no_power_is_known_none_is_the_thriftiest(monkeypatch: pytest.MonkeyPatch) -> None:
    _costed(monkeypatch, lambda _: _drawing(4.0, None))
    found = settings_of(_load(chance=0.99), _box({"10W": 10.0}), ["gpu"], {})
    assert (found.thriftiest, found.chance) == (None, 0.99)
    assert [mode.chance for mode in found.modes] == [1.0, 1.0]


def test_boards_come_by_their_joules_all_else_by_stated_watts() -> None:
    hungry = Candidate(box=_box({}), watts=10.0, run_watts=9.0, of_board=True)
    thrifty = Candidate(box=_box({}), watts=50.0, run_watts=8.0, of_board=True)
    card = Candidate(box=_box({}), watts=300.0, run_watts=1.0)
    unknown = Candidate(box=_box({}), watts=15.0)
    nothing = Candidate(box=_box({}), busiest=0.1)
    mixed = [nothing, card, hungry, unknown, thrifty]
    ranked = [thrifty, hungry, unknown, card, nothing]
    assert sorted(mixed, key=lambda entry: entry.rank) == ranked


@settings(max_examples=15, deadline=None)
@given(st.floats(2.1, 30.0), st.sets(st.sampled_from(_CLOCKS), min_size=2))
def test_the_lowest_clock_is_that_of_all_tried_ones_that_hold(
    deadline_ms: float, stated: set[float]
) -> None:
    # A run takes 2 ms at the highest clock, and as much longer as the clock is lower.
    usual = max(stated)
    with pytest.MonkeyPatch.context() as monkeypatch:
        _costed(monkeypatch, lambda box: cost(2.0 * usual / box.clock.get("gpu", usual)))
        found = settings_of(_load(deadline_ms, draws=2), _box({}, tuple(stated)), ["gpu"], {})
    (lowest,) = found.clocks
    tried = stated
    if len(stated) < 5:  # steps down to the lowest one
        ratio = usual / min(stated)
        tried = {usual, *(round(usual / ratio ** (place / 15)) for place in range(1, 16))}
    limit_ms = min(deadline_ms, 19.999)  # 20 ms are between two frames
    times = {mhz: 2.0 * usual / mhz for mhz in tried}
    assume(all(abs(ms - limit_ms) > 1e-6 for ms in times.values()))
    assert lowest.mhz == min(mhz for mhz, ms in times.items() if ms <= limit_ms)
    assert (lowest.usual_mhz, lowest.is_lowest) == (usual, lowest.mhz == min(tried))


def test_a_device_that_states_one_clock_has_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    _costed(monkeypatch, lambda _: cost(2.0))
    assert settings_of(_load(), _box({}, (1000.0,)), ["gpu"], {}).clocks == ()


def test_no_clock_is_named_where_the_usual_one_does_not_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _costed(monkeypatch, lambda _: cost(60.0))
    assert settings_of(_load(), _box({}, _CLOCKS), ["gpu"], {}).clocks == ()


def test_a_box_at_a_clock_is_slower_and_its_power_is_not_known() -> None:
    box = named_box("jetson-orin-nx-16gb", _CATALOGUE)
    unit = box.units["gpu"]
    model = make_model(*[Op(macs=50_000_000, read=400_000, weights=200_000, written=400_000)] * 4)
    stage = Stage(line=1, name="detect", model="net.onnx", unit="gpu")
    in_mode = replace(box, mode="15W")
    same = replace(in_mode, clock={"gpu": clocks_of(unit.device, in_mode.point(unit)).gpu})
    boxes = [box, replace(box, clock={"gpu": 459.0}), in_mode, same]
    usual, slow, mode, clocked = run_costs(stage, model, [(entry, unit) for entry in boxes])
    assert 1.2 < slow.batch_ms[0] / usual.batch_ms[0] < 2.01
    assert (slow.energy_mj, slow.power, slow.of_board) == (None, "", False)
    # A clock that is the mode's changes nothing.
    assert (clocked.energy_mj, clocked.batch_ms) == (mode.energy_mj, mode.batch_ms)
    assert mode.of_board


def test_clocks_of_a_load_are_those_of_its_units() -> None:
    tables = {"box": {"id": "jetson-orin-nx-16gb", "clock": "gpu=510"},
              "stream": [{"name": "a", "rate": 1, "stage": [{"model": "a.onnx"}]}]}  # fmt: skip
    box = box_of_load(load_of_tables(tables), _CATALOGUE)
    gpu, cpu, dla = (box.units[name] for name in ("gpu", "cpu", "dla"))
    assert box.clocks(gpu) == replace(default_clocks(gpu.device), gpu=510.0)
    assert box.clocks(dla) is None
    assert box.clocks(cpu) == replace(default_clocks(cpu.device), gpu=510.0)
    for clock, words in (
        ("gpu=5000", "gpu=5000 MHz; there is "),
        ("gpu=1", "gpu=91.8 to 918"),
        ("npu=3", "clock: it is not clocks in MHz"),
    ):
        tables["box"] = {"id": "jetson-orin-nx-16gb", "clock": clock}
        with pytest.raises(InputError, match=words):
            box_of_load(load_of_tables(tables), _CATALOGUE)
    coral = replace(named_box("n100-coral", _CATALOGUE), clock={"mem": 100.0})
    with pytest.raises(InputError, match="no unit of n100-coral runs at mem=100 MHz"):
        check_clock(coral, lambda reason: InputError("--clock", reason, "name another"))
