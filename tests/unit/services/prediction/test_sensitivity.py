"""Alternatives to a prediction, and the sentence on what would change it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from predictor.core.documents import Provenance
from predictor.core.errors import InputError
from predictor.core.percentiles import Z80
from predictor.core.records import Configuration, Measurement, Precision, Target
from predictor.services.prediction import sensitivity
from predictor.services.prediction.sensitivity import (
    Alternative,
    FactSensitivity,
    Sensitivity,
    sensitivity_of,
)
from tests.support.estimates import every_target, samples
from tests.support.graphs import VIEW, Op, make_graph, make_target
from tests.support.models import PHONE, make_model

# 2 ms at 1e12 MACs a second, 0.1 ms of weights and 0.1 of activations at 100 GB/s, 6 us of a start.
MODEL = make_model(Op(macs=2 * 10**9, weights=10**7, read=2 * 10**7))
FACTS = {"fp32_tflops": 2.0, "fp16_tflops": 4.0, "dram_bw_gbps": 100.0, "dram_gb": 0.016}
GPU = make_target(FACTS, runs=(Precision.FP32, Precision.FP16))


def alternatives(
    target: Target, engine: str = "roofline", own: Sequence[Measurement] = ()
) -> dict[str, Alternative]:
    answer = sensitivity_of(MODEL, target, engine, measurements=own).alternatives
    return {each.change: each for each in answer}


def test_another_precision_and_larger_batches() -> None:
    by_change = alternatives(GPU)

    assert list(by_change) == ["precision fp16", "batch 2", "batch 4"]
    half, batch = by_change["precision fp16"], by_change["batch 4"]
    # Twice the rate; the traffic is hidden. The peaks of both are in the device's 16 MB.
    assert half.latency_ms == pytest.approx(1.006)
    assert half.latency_factor == pytest.approx(1.006 / 2.006)
    assert half.throughput_factor == pytest.approx(2.006 / 1.006)
    assert half.configuration.precision is Precision.FP16
    assert batch.latency_factor == pytest.approx(8.006 / 2.006)
    assert batch.throughput_factor == pytest.approx(4 * 2.006 / 8.006)
    assert batch.configuration.batch == 4
    assert {each.low80_factor for each in by_change.values()} == {None}  # analytic: no interval
    assert batch.fits_memory is True


def test_a_batch_is_a_multiple_of_the_models_own_and_may_not_fit() -> None:
    large = make_model(*[Op(macs=10**9)], batch=8)
    graph = replace(large.graph, peak_activation_bytes=5 * 10**6)
    answer = sensitivity_of(replace(large, graph=graph), GPU, "roofline").alternatives

    assert [(each.change, each.fits_memory) for each in answer] == [
        ("precision fp16", True),
        ("batch 16", True),
        ("batch 32", False),
    ]


@pytest.mark.parametrize(
    ("threads", "others"),
    [(0, ["threads 4"]), (1, ["threads 2"]), (2, ["threads 1", "threads 4"]), (6, ["threads 3"])],
)
def test_threads_are_halved_and_doubled_within_the_cores(threads: int, others: list[str]) -> None:
    target = Target(PHONE, Configuration("ncnn", threads=threads))  # 2 and 6 cores

    changes = [each for each in alternatives(target) if each.startswith("threads")]

    assert changes == others


def test_precisions_are_those_that_the_device_lists_for_the_runtime() -> None:
    onnxruntime = Target(PHONE, Configuration("onnxruntime"))  # listed in FP32 alone
    portable = Target(PHONE, Configuration("pytorch"))  # not listed: what the device and it run

    assert not [each for each in alternatives(onnxruntime) if each.startswith("precision")]
    phone = replace(PHONE, metrics={**PHONE.metrics, "fp16_tflops": 0.3})
    changes = alternatives(replace(portable, device=phone))
    assert [each for each in changes if each.startswith("precision")] == ["precision fp16"]


def test_an_alternative_without_a_number_is_left_out() -> None:
    unknown = make_target({"fp32_tflops": 2.0, "dram_bw_gbps": 100.0})  # no rate in FP16

    changes = alternatives(unknown)

    assert "precision fp16" not in changes
    assert "batch 2" in changes


def test_intervals_are_those_of_ratios() -> None:
    """They are far narrower than those of the two latencies, which err alike."""
    target = next(
        each
        for each in every_target()
        if each.device.id == "core-i7-1165g7" and each.configuration == Configuration("onnxruntime")
    )
    model = replace(MODEL, graph=samples()["mobilenetv2-1.0-224"])

    by_change = {each.change: each for each in sensitivity_of(model, target).alternatives}

    int8, four, two = (by_change[name] for name in ("precision int8", "batch 4", "batch 2"))
    reach = math.exp(Z80 * 0.61)
    assert int8.low80_factor == pytest.approx(int8.latency_factor / reach)
    assert int8.high80_factor == pytest.approx(int8.latency_factor * reach)
    assert four.high80_factor == pytest.approx(four.latency_factor * math.exp(Z80 * 0.23))
    assert two.low80_factor is not None
    assert 1 <= two.low80_factor <= two.latency_factor  # no larger batch is faster


def measured(target: Target, value_ms: float) -> Measurement:
    configuration = replace(target.configuration, threads=target.threads, batch=1)
    return Measurement(
        id="m" * 32,
        fingerprint=MODEL.graph.fingerprint,
        device_id=target.device.id,
        configuration=configuration,
        samples_ns=(),
        value_ms=value_ms,
        statistic="median",
        protocol="ctm-probe/1",
        provenance=Provenance({}),
    )


def test_of_two_measured_latencies_the_ratio_is_measured() -> None:
    half = replace(GPU, configuration=replace(GPU.configuration, precision=Precision.FP16))
    both = [measured(GPU, 10.0), measured(half, 4.0)]

    of_both = alternatives(GPU, own=both)
    of_one = alternatives(GPU, own=both[:1])

    assert of_both["precision fp16"].latency_factor == pytest.approx(0.4)
    low = of_both["precision fp16"].low80_factor
    assert low is not None
    assert 0.38 < low < 0.4  # repetitions of measurements alone
    # A batch of four was measured by nobody, nor a half by one of them: the engine's own ratio.
    assert of_both["batch 4"].latency_factor == pytest.approx(8.006 / 2.006)
    assert of_one["precision fp16"].latency_factor == pytest.approx(1.006 / 2.006)


def test_the_sentence_names_the_strongest_of_each() -> None:
    shown = sensitivity_of(MODEL, GPU, "roofline")

    # 2.006 ms become 2 / 1.1 + 0.006, 1.006, and 8.006 for four.
    # The rate of the batch, 0.22 % more, is no advice.
    assert shown.sentence == (
        "To make it faster: FP32 peak +10 % saves 9.1 %; FP16 would save 50 %."
    )


def alternative(kind: str, latency_factor: float, **configuration: object) -> Alternative:
    changed = replace(Configuration(), **configuration)  # type: ignore[arg-type]
    return Alternative(
        kind=kind,
        configuration=changed,
        latency_ms=1.0,
        latency_factor=latency_factor,
        low80_factor=None,
        high80_factor=None,
        throughput_factor=1 / latency_factor,
        fits_memory=None,
    )


def test_what_saves_nothing_is_left_out() -> None:
    nothing = np.zeros(0)
    fact = FactSensitivity(
        fact="core_count",
        label="Cores",
        unit="",
        value=4.0,
        elasticity=-0.5,
        more=0.955,
        operators=nothing,
    )
    batch = replace(alternative("batch", 5.0, batch=4), throughput_factor=0.8)
    slower = alternative("precision", 1.05, precision=Precision.AMP_FP16)
    faster, worse = alternative("threads", 0.7, threads=8), alternative("threads", 1.9, threads=2)

    def sentence(*others: Alternative) -> str:
        return Sensitivity((fact,), others).sentence

    said = "To make it faster: cores +10 % saves 4.5 %"
    assert sentence(worse, faster, batch) == f"{said}; 8 threads would save 30 %."
    larger = replace(batch, throughput_factor=1.2)
    assert sentence(larger) == f"{said}; batch 4 does 20 % more items a second."
    same = alternative("precision", 1 + 1e-9, precision=Precision.FP16)
    assert sentence(same, slower) == f"{said}."
    assert Sensitivity((), (same, slower)).sentence == ""


def test_int8_is_named_beside_the_fastest_that_runs_the_same_file() -> None:
    half = alternative("precision", 0.6, precision=Precision.FP16)
    int8 = replace(alternative("precision", 0.4, precision=Precision.INT8), needs_quantising=True)

    assert Sensitivity((), (int8, half)).sentence == (
        "To make it faster: FP16 would save 40 %; INT8 would save 60 %, but needs a quantised "
        "model."
    )


def test_a_file_in_floating_point_has_to_be_quantised_for_int8() -> None:
    listed = (*GPU.device.configurations, Configuration("pytorch", Precision.INT8))
    metrics = {**GPU.device.metrics, "int8_tops": 400.0}
    device = replace(GPU.device, configurations=listed, metrics=metrics)

    of_float = sensitivity_of(MODEL, Target(device, GPU.configuration), "roofline")

    needs = {each.change: each.needs_quantising for each in of_float.alternatives}
    assert needs.pop("precision int8")
    assert not any(needs.values())


def test_a_graph_without_time_has_no_sensitivity() -> None:
    empty = replace(MODEL, graph=make_graph([Op(flags=VIEW)]))

    answer = sensitivity_of(empty, GPU, "roofline")

    assert (answer.facts, answer.alternatives, answer.sentence) == ((), (), "")


def test_an_operator_has_the_elasticities_of_its_time() -> None:
    model = make_model(Op(macs=2 * 10**9), Op(read=10**7), Op(flags=VIEW))
    shown = sensitivity_of(model, GPU, "roofline")

    assert shown.of_operator(0) == pytest.approx({"fp32_tflops": -2 / 2.006, "dram_bw_gbps": 0})
    assert shown.of_operator(2) == {}


def test_a_target_without_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="not supported"):
        sensitivity_of(MODEL, make_target(FACTS, runs=(Precision.INT8,)))
    with pytest.raises(InputError, match="no engine of this name"):
        sensitivity_of(MODEL, GPU, "crystal-ball")


def test_a_graph_that_is_worked_out_in_parts_has_the_same_sensitivity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = make_model(Op(macs=2 * 10**9), Op(read=10**7), Op(flags=VIEW))
    whole = sensitivity_of(model, GPU)
    assert whole.facts
    monkeypatch.setattr(sensitivity, "_AT_ONCE", 1)
    parts = sensitivity_of(model, GPU)
    assert [fact.fact for fact in parts.facts] == [fact.fact for fact in whole.facts]
    for part, fact in zip(parts.facts, whole.facts, strict=True):
        assert part.elasticity == pytest.approx(fact.elasticity, rel=1e-9)
        assert part.more == pytest.approx(fact.more, rel=1e-9)
        np.testing.assert_allclose(part.operators, fact.operators, rtol=1e-9)
