"""What several runs at once bring: by hand, and from what ships."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.calibration.throughput import STEADY, Concurrency, concurrency_of, cores_of
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target

RULE = Concurrency(start=0.1, batches=1.5, cores=0.25, scale=0.4, chips=9, error=0.2)


def target(family: Family, runtime: str, threads: int = 0, **metrics: float) -> Target:
    runs = Configuration(runtime, Precision.FP16, threads)
    return Target(
        Device(
            id="it", name="It", vendor="Me", family=family, metrics=metrics, configurations=(runs,)
        ),
        runs,
    )


def test_a_gain_is_of_start_batches_and_cores() -> None:
    gain = RULE.gain(4.0, 16)
    assert gain == pytest.approx(math.exp(0.1) * 4**1.5 * 16**0.25)
    assert RULE.reach80(gain) == pytest.approx(0.4 * (STEADY + math.log(gain)))


@given(st.floats(1, 128), st.floats(1, 128), st.integers(1, 256))
def test_more_of_batches_or_cores_never_brings_less(batch: float, more: float, cores: int) -> None:
    assert 1 <= RULE.gain(batch, cores) <= RULE.gain(batch * more, cores)
    assert RULE.gain(batch, cores) <= RULE.gain(batch, cores + 1)


def test_a_batch_has_the_rest_by_its_size() -> None:
    assert RULE.of_batch(1.0, 1, 16) == 1.0
    rest = 0.1 + 0.25 * math.log(16)
    assert RULE.of_batch(1.5, 4, 16) == pytest.approx(math.exp(0.75 * rest) * 1.5**1.5)
    # Four items never take less than the time of one, nor more than that of four.
    assert RULE.of_batch(3.9, 4, 16) == 4.0
    assert replace(RULE, start=-9.0).of_batch(1.5, 4, 1) == 1.0


def test_a_negative_sum_is_one_run_after_the_other() -> None:
    rule = Concurrency(start=-0.5, batches=1, cores=0, scale=0.4, chips=9, error=0.2)
    assert rule.gain(1.2, 1) == 1.0


def test_classes_are_of_runtime_and_kind_of_device() -> None:
    on_card = concurrency_of(target(Family.GPU, "tensorrt"))
    assert on_card is not None
    assert on_card.batches > 0
    assert on_card.error <= 0.30
    assert concurrency_of(target(Family.NPU, "tensorrt")) is None
    assert concurrency_of(target(Family.NPU, "rknn")) is None
    assert concurrency_of(target(Family.NPU, "qnn")) == concurrency_of(target(Family.NPU, "snpe"))


def test_a_rule_of_cores_needs_their_number() -> None:
    known = target(Family.CPU, "openvino", core_count=8.0)
    assert cores_of(known) == 8
    assert cores_of(target(Family.CPU, "openvino", threads=4, core_count=8.0)) == 4
    assert concurrency_of(known) is not None
    assert concurrency_of(target(Family.CPU, "openvino")) is None


def test_cores_of_a_dpu_run_images_of_their_own() -> None:
    dpu = target(Family.FPGA, "vitis-ai", core_count=3.0)
    zynq, versal = (
        replace(dpu, device=replace(dpu.device, architecture=name))
        for name in ("dpu-b4096", "dpucvdx8g")
    )
    assert (cores_of(zynq), cores_of(versal)) == (3, 1)
    assert cores_of(target(Family.GPU, "tensorrt", core_count=3.0)) == 1
    rule = concurrency_of(zynq)
    assert rule is not None
    assert rule.gain(1.0, 3) > 1.5 * rule.gain(1.0, 1)
