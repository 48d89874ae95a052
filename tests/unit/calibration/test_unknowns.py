"""What is unknown of targets, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.calibration.unknowns import (
    DESIGN,
    MAKER,
    PRECISION,
    RATE,
    MeasuredKinds,
    unknown_words,
    widening,
)
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.cost.physics import rates_of

METRICS = {
    "fp32_tflops": 13.0,
    "fp16_tflops": 26.0,
    "int8_tops": 52.0,
    "dram_bw_gbps": 360.0,
    "core_count": 28.0,
    "fp32_au_per_core": 128.0,
    "boost_clock_mhz": 1800.0,
}


def target(
    architecture: str = "ampere-ga10x",
    vendor: str = "NVIDIA",
    precision: Precision = Precision.FP32,
    metrics: dict[str, float] = METRICS,
) -> Target:
    device = Device(
        id="card",
        name="Card",
        vendor=vendor,
        family=Family.GPU,
        metrics=metrics,
        architecture=architecture,
    )
    return Target(device, Configuration("tensorrt", precision=precision))


MEASURED = MeasuredKinds.of([target(), target(precision=Precision.FP16)])


@pytest.mark.parametrize(
    ("asked", "unknown"),
    [
        (target(), ()),
        (target(architecture="ampere-ga10x-geforce"), (DESIGN,)),
        (target(precision=Precision.INT8), (PRECISION,)),
        (target(vendor="A maker"), (MAKER,)),
    ],
)
def test_what_nobody_measured_is_unknown(asked: Target, unknown: tuple[str, ...]) -> None:
    stated = rates_of([target()])

    assert MEASURED.unknowns([asked], stated) == [unknown]


def test_a_rate_that_no_fact_gives_is_unknown() -> None:
    known, bare = target(), target(metrics={"fp32_tflops": 13.0})

    unknowns = MEASURED.unknowns([known, bare], rates_of([known, bare]))

    assert unknowns == [(), (RATE,)]
    assert unknown_words(unknowns[1]) == ": a rate of it is not stated"


def test_an_accelerator_has_no_rate_of_one_unit() -> None:
    card = target(precision=Precision.INT8)
    npu = replace(card, device=replace(card.device, family=Family.NPU))
    rates = rates_of([npu])

    assert np.isnan(rates.unit[0])
    assert RATE not in MEASURED.unknowns([npu], rates)[0]


def test_each_unknown_widens_alike() -> None:
    factors = widening(np.arange(4))

    assert factors[0] == 1.0
    assert np.diff(np.log(factors)) == pytest.approx(np.full(3, np.log(factors[1])))
    assert factors[1] > 1.2


def test_a_device_of_no_known_design_has_an_unknown_one() -> None:
    bare = replace(target(), device=replace(target().device, architecture=None, name="X"))

    assert DESIGN in MEASURED.unknowns([bare], rates_of([bare]))[0]
