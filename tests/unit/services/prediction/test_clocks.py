"""Predictions at other clocks: the default, measured points, intervals, energy, planes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core.errors import InputError
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Precision, Target
from predictor.cost.clocks import ClockModel
from predictor.devices.operating import default_clocks, named_mode, requested_clocks
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.clocks import at_clocks, clock_model, latency_plane, measured_at
from predictor.services.prediction.predict import predict
from tests.support.graphs import Op
from tests.support.models import make_model

MODEL = make_model(*[Op(macs=2 * 10**8, weights=10**6, read=2 * 10**6)] * 8)
XAVIER = Target(
    load_catalogue().find("jetson-agx-xavier-gpu"), Configuration("tensorrt", Precision.FP16)
)
CPU = Target(load_catalogue().find("jetson-agx-orin-cpu"), Configuration("onnxruntime"))


def both(target: Target) -> tuple[Prediction, ClockModel]:
    (prediction,) = predict([MODEL], [target])
    return prediction, clock_model(MODEL, target)


def test_the_default_clocks_give_the_prediction_itself() -> None:
    prediction, followed = both(XAVIER)
    clocked = at_clocks(prediction, followed, XAVIER, default_clocks(XAVIER.device))
    assert clocked.prediction == prediction
    assert clocked.factor == 1.0


def test_a_mode_is_slower_and_its_interval_wider() -> None:
    prediction, followed = both(XAVIER)
    point = named_mode(XAVIER.device, "15W")
    clocks = requested_clocks(XAVIER.device, "", "15W")
    clocked = at_clocks(prediction, followed, XAVIER, clocks, point)
    now = clocked.prediction
    assert prediction.latency_ms
    assert prediction.high80_ms
    assert now.latency_ms
    assert now.high80_ms
    assert now.latency_ms == pytest.approx(clocked.factor * prediction.latency_ms)
    assert 1 < clocked.factor <= 1377 / 670
    assert now.high80_ms / now.latency_ms > prediction.high80_ms / prediction.latency_ms
    assert clocked.sentence.startswith("at 15W (CPU 1200 MHz, GPU 670 MHz, memory 1333 MHz)")


def test_energy_is_a_part_of_the_limit_times_the_latency() -> None:
    prediction, followed = both(XAVIER)
    point = named_mode(XAVIER.device, "15W")
    clocked = at_clocks(
        prediction, followed, XAVIER, requested_clocks(XAVIER.device, "", "15W"), point
    )
    energy, latency_ms = clocked.energy, clocked.prediction.latency_ms
    assert energy
    assert latency_ms
    assert energy.mj == pytest.approx(0.57 * 15 * latency_ms)
    assert energy.low80_mj < energy.mj < energy.high80_mj
    unlimited = named_mode(XAVIER.device, "MAXN")
    clocks = requested_clocks(XAVIER.device, "", "MAXN")
    assert at_clocks(prediction, followed, XAVIER, clocks, unlimited).energy is None


def test_half_the_cores_of_a_gpu_are_slower() -> None:
    prediction, followed = both(XAVIER)
    clocks = requested_clocks(XAVIER.device, "", "10W")
    whole = at_clocks(prediction, followed, XAVIER, replace(clocks, gpu_cores=8)).factor
    assert whole < at_clocks(prediction, followed, XAVIER, clocks).factor <= 2 * whole


def test_cores_that_are_off_count_as_far_as_threads_would_use_them() -> None:
    prediction, followed = both(CPU)
    clocks = replace(default_clocks(CPU.device), cores=3)
    assert 1 < at_clocks(prediction, followed, CPU, clocks).factor <= 4
    few = Target(CPU.device, replace(CPU.configuration, threads=2))
    assert at_clocks(*both(few), few, clocks).factor == 1.0


def test_a_measured_point_is_met_and_moves_the_others() -> None:
    prediction, followed = both(XAVIER)
    given = measured_at(XAVIER.device, "15W=100")
    there = at_clocks(prediction, followed, XAVIER, given.clocks, None, [given]).prediction
    assert there.latency_ms == pytest.approx(100)
    assert there.high80_ms
    assert there.high80_ms < 105
    usual = default_clocks(XAVIER.device)
    default = at_clocks(prediction, followed, XAVIER, usual, None, [given])
    assert default.prediction.latency_ms
    assert default.prediction.latency_ms < 100
    assert default.prediction.evidence.startswith("scaled to 1 latency that you measured")


@pytest.mark.parametrize("text", ["15W", "=3", "15W=x", "15W=-1", "gpu=612=inf"])
def test_a_measured_point_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="CLOCKS=MS or MODE=MS"):
        measured_at(XAVIER.device, text)


def test_a_latency_that_cannot_be_is_refused() -> None:
    prediction, followed = both(XAVIER)
    given = measured_at(XAVIER.device, "15W=1e9")
    with pytest.raises(InputError, match="times off the prediction"):
        at_clocks(prediction, followed, XAVIER, given.clocks, None, [given])


def test_a_measured_number_is_measured_at_its_clocks_only() -> None:
    prediction, followed = both(XAVIER)
    measured = replace(prediction, basis=Basis.MEASURED, provenance="runner")
    clocked = at_clocks(measured, followed, XAVIER, requested_clocks(XAVIER.device, "gpu=670", ""))
    assert clocked.prediction.basis is Basis.PROBED
    assert clocked.prediction.provenance == ""


def test_the_plane_holds_what_single_points_give() -> None:
    prediction, followed = both(XAVIER)
    usual = default_clocks(XAVIER.device)
    axes = {"gpu": np.array([520.0, 1377.0]), "mem": np.array([1066.0, 1600.0, 2133.0])}
    plane = latency_plane(prediction, followed, XAVIER, usual, axes)
    assert plane.shape == (3, 2)
    one = at_clocks(prediction, followed, XAVIER, replace(usual, gpu=520.0, mem=1600.0))
    assert plane[1, 0] == pytest.approx(one.prediction.latency_ms)
    assert plane[2, 1] == pytest.approx(prediction.latency_ms)
    assert (np.diff(plane, axis=0) <= 0).all()
    assert (np.diff(plane, axis=1) <= 0).all()
