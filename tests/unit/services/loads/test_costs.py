"""Costs of runs from predictions: batches, modes, what is unknown."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predictor.calibration.throughput import concurrency_of
from predictor.core.toml_tables import TomlTables
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.loads.boxes import box_of_devices, named_box
from predictor.services.loads.carry import carry, model_key
from predictor.services.loads.costs import run_costs, target_of
from predictor.services.loads.records import Load, Stage, Stream
from predictor.services.prediction.batches import batch_times
from tests.support.graphs import Op
from tests.support.models import make_model

_BOX = named_box("jetson-orin-nx-16gb", load_catalogue())
_GPU, _CPU = _BOX.units["gpu"], _BOX.units["cpu"]
_MODEL = make_model(*[Op(macs=50_000_000, read=400_000, weights=200_000, written=400_000)] * 12)
_STAGE = Stage(line=1, name="detect", model="net.onnx", unit="gpu", batch=12)


def test_a_larger_batch_is_never_faster_nor_slower_than_its_runs() -> None:
    (cost,) = run_costs(_STAGE, _MODEL, [(_BOX, _GPU)])
    assert cost.batch_ms[0] == pytest.approx(cost.prediction.latency_ms)
    assert len(cost.batch_ms) == 12
    assert (np.diff(cost.batch_ms) >= 0).all()
    assert (cost.batch_ms <= cost.batch_ms[0] * np.arange(1, 13) + 1e-9).all()
    assert cost.of_full_batch < 1.0


def test_batches_bring_what_published_rates_of_the_class_show() -> None:
    target = target_of(_STAGE, _GPU)
    rule = concurrency_of(target)
    assert rule is not None
    assert rule.of_loads
    (cost,) = run_costs(replace(_STAGE, batch=4), _MODEL, [(_BOX, _GPU)])
    (alone, predicted) = batch_times(_MODEL.graph, [target], (1, 4)).ratio[:, 0]
    gain = rule.of_batch(4 / predicted, 4, 1)
    assert gain > 4 / predicted
    assert alone == 1.0
    assert 4 * cost.batch_ms[0] / cost.batch_ms[3] == pytest.approx(gain)


def test_a_mode_without_a_limit_has_the_measured_watts_of_the_usual_clocks() -> None:
    box = box_of_devices([load_catalogue().find("jetson-agx-orin-32gb-gpu")])
    (unit,) = box.units.values()
    stage = replace(_STAGE, unit=unit.name, batch=1)
    usual, most, limited = run_costs(
        stage, _MODEL, [(replace(box, mode=mode), unit) for mode in ("", "MAXN", "30W")]
    )
    assert usual.energy_mj is not None
    assert most.energy_mj == usual.energy_mj
    assert "measured at the wall" in most.power
    assert "30 W" in limited.power


def test_units_are_predicted_together_as_one_by_one() -> None:
    places = [(_BOX, _GPU), (_BOX, _CPU)]
    together = run_costs(_STAGE, _MODEL, places)
    alone = [run_costs(_STAGE, _MODEL, [place])[0] for place in places]
    for pair in zip(together, alone, strict=True):
        assert pair[0].batch_ms == pytest.approx(pair[1].batch_ms)
        assert pair[0].deviation == pytest.approx(pair[1].deviation)


def test_a_processor_that_binds_is_advised_to_run_on_fewer_threads() -> None:
    catalogue = load_catalogue()
    box = box_of_devices([catalogue.find("xeon-platinum-8380")])
    stage = replace(_STAGE, unit="cpu", batch=1)
    stream = Stream(line=1, name="camera", rate_per_s=300.0, stages=(stage,))
    load = Load(file=TomlTables(Path("load.toml"), {}, [], ""), streams=(stream,), draws=10)
    answer = carry(load, box, {model_key(stage): _MODEL})
    (change,) = (change for change in answer.advice if "2 threads" in change.words)
    assert change.words == "detect in runs of 2 threads"
    assert change.after_ms > change.before_ms
    assert change.utilisation < answer.units[0].utilisation.median


def test_a_mode_is_slower_and_states_joules() -> None:
    stage = replace(_STAGE, batch=1)
    slow = replace(_BOX, mode="10W")
    usual, low = run_costs(stage, _MODEL, [(_BOX, _GPU), (slow, _GPU)])
    assert low.batch_ms[0] > usual.batch_ms[0]
    assert low.deviation >= usual.deviation
    assert low.energy_mj is not None
    assert low.energy_mj[1] < low.energy_mj[0] < low.energy_mj[2]
    dla = run_costs(stage, _MODEL, [(slow, _BOX.units["dla"])])[0]
    assert dla.energy_mj is None  # its file states no modes


def test_an_integer_run_moves_a_quarter_and_needs_a_quantised_model() -> None:
    stage = replace(_STAGE, batch=1)
    full, quarter = (
        run_costs(replace(stage, precision=precision), _MODEL, [(_BOX, _GPU)])[0]
        for precision in ("fp32", "int8")
    )
    assert quarter.traffic_bytes == pytest.approx(full.traffic_bytes / 4)
    assert quarter.needs_quantising
    assert not full.needs_quantising
