"""Sweeps over batch and threads: choices, intervals, what was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core.documents import Provenance
from predictor.core.metrics import Family
from predictor.core.records import Basis, Configuration, Device, Measurement, Precision, Target
from predictor.services.prediction.sweep import sweeps
from tests.support.graphs import make_target
from tests.support.matrices import model_named

MODEL = model_named("m.onnx")


def cpu(cores: int, threads: int = 0) -> Target:
    way = Configuration("onnxruntime", Precision.FP32, threads)
    facts = {"core_count": float(cores), "dram_bw_gbps": 20.0, "fp32_gflops": 100.0}
    return Target(
        Device(
            id="d",
            name="D",
            vendor="V",
            family=Family.CPU,
            metrics=facts,
            sources={},
            configurations=(way,),
        ),
        way,
    )


def test_a_gpu_has_a_sweep_over_the_batch_alone() -> None:
    (batch,) = sweeps(MODEL, make_target())
    assert batch.kind == "batch"
    assert batch.choices.tolist() == [1, 2, 4, 8, 16, 32, 64]
    times = np.array([each.latency_ms for each in batch.predictions])
    assert (np.diff(times) > 0).all()


@pytest.mark.parametrize(
    ("cores", "threads", "counts", "now"),
    [(4, 0, [1, 2, 3, 4], 3), (12, 6, [1, 2, 4, 6, 8, 12], 3), (12, 0, [1, 2, 4, 8, 12], 4)],
)
def test_threads_go_up_to_the_cores(cores: int, threads: int, counts: list[int], now: int) -> None:
    _, over = sweeps(MODEL, cpu(cores, threads))
    assert (over.kind, over.choices.tolist(), over.now) == ("threads", counts, now)


def test_one_core_leaves_no_choice_of_threads() -> None:
    assert [each.kind for each in sweeps(MODEL, cpu(1))] == ["batch"]


def test_the_present_choice_is_the_prediction_and_what_was_measured_stands() -> None:
    target = cpu(4)
    configuration = replace(target.configuration, threads=target.threads, batch=1)
    own = Measurement(
        id="m" * 32,
        fingerprint=MODEL.graph.fingerprint,
        device_id=target.device.id,
        configuration=configuration,
        samples_ns=(),
        value_ms=7.0,
        statistic="median",
        protocol="ctm-probe/1",
        provenance=Provenance({}),
    )
    for sweep in sweeps(MODEL, target, measurements=[own]):
        assert sweep.predictions[sweep.now].latency_ms == 7.0
        measured = [p.basis is Basis.MEASURED for p in sweep.predictions]
        assert [place for place, is_measured in enumerate(measured) if is_measured] == [sweep.now]
