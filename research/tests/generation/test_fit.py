from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from ctm_research.generation.fit import (
    USUAL_ON_CUDA,
    fit,
    predicted_seconds,
    rows_of,
)
from ctm_research.generation.heads import head_figures
from ctm_research.generation.judge import by_context, figures, judge
from ctm_research.generation.least_squares import bounded, not_negative
from ctm_research.generation.make import make_backends
from ctm_research.generation.models import MODELS
from ctm_research.generation.published import Rate
from ctm_research.generation.spread import (
    attention_scale,
    observed_of,
    scales_of,
    widenings,
)
from ctm_research.generation.sustained import sustained_figures
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.language.deviations import Scales
from predictor.language.rates import (
    Group,
    Phase,
)
from predictor.language.weights import weight_format


def device(at, clock=1500.0):
    facts = {
        "dram_bw_gbps": 200.0 + 130 * at,
        "fp32_tflops": 40.0 / (1 + at % 4),
        "fp16_tflops": 50.0 + 70 * (at * 5 % 7),
        "boost_clock_mhz": clock + 100 * (at * 3 % 5),
    }
    return Device(
        id=f"d{at}", name=f"D{at}", vendor="NVIDIA", family=Family.GPU, metrics=facts, chip=f"c{at}"
    )


def rate(on, phase=Phase.DECODE, tokens=128, form="f16", model="Llama-3-8B"):
    return Rate(on, "cuda", MODELS[model], weight_format(form), phase, tokens, 0, 512, 1.0, "made")


TRUE = dataclasses.replace(USUAL_ON_CUDA, bandwidth=1.3, cache=1.5, head_step=0.9, step=2e-4)


def made(noise=0.0, count=10):
    """Return rates of devices that follow physics, but for a factor a device."""
    random = np.random.default_rng(0)
    rates = []
    for at in range(count):
        factor = float(np.exp(noise * random.standard_normal()))
        for phase, tokens in itertools.product(Phase, (512, 4096)):
            for form in ("f16", "q4_0"):
                for model in ("Llama-3-8B", "Llama-3.2-1B"):
                    one = rate(device(at), phase, tokens, form, model)
                    (row,) = rows_of([one])
                    seconds = predicted_seconds(row, TRUE) * factor
                    rates.append(dataclasses.replace(one, seconds=seconds))
    return rates


def test_not_negative_is_least_squares_under_the_constraint():
    random = np.random.default_rng(1)
    for _ in range(50):
        matrix, target = random.standard_normal((12, 4)), random.standard_normal(12)
        solved = not_negative(matrix, target)
        assert (solved >= 0).all()
        gradient = matrix.T @ (matrix @ solved - target)
        # Nothing is gained by more of a coefficient, nor by less of one that is not 0.
        assert (gradient > -1e-8).all()
        assert np.abs(gradient[solved > 0]).max(initial=0) < 1e-8


def test_limits_hold_in_the_least_squares_solution():
    random = np.random.default_rng(2)
    for _ in range(50):
        matrix, target = random.standard_normal((12, 4)), random.standard_normal(12)
        upper = random.uniform(0, 0.5, 4) * (random.random(4) > 0.3)
        solved = bounded(matrix, target, upper)
        assert (solved >= 0).all()
        assert (solved <= upper + 1e-12).all()
        free = (solved > 0) & (solved < upper)
        gradient = matrix.T @ (matrix @ solved - target)
        assert np.abs(gradient[free]).max(initial=0) < 1e-8
    unlimited = np.full(4, np.inf)
    assert bounded(matrix, target, unlimited) == pytest.approx(not_negative(matrix, target))


def test_the_fit_finds_the_coefficients_of_made_rates():
    rows = rows_of(made())
    c = fit(rows, USUAL_ON_CUDA)
    assert c.bandwidth == pytest.approx(1.3, rel=0.05)
    assert c.step == pytest.approx(2e-4, rel=0.1)
    assert c.head_step == pytest.approx(0.9, rel=0.1)
    assert (c.head_bytes, c.head_flops) == (0, 0)
    for row in rows:
        assert predicted_seconds(row, c) == pytest.approx(row.rate.seconds, rel=0.05)


def test_deviations_are_found_with_their_scale():
    rows = rows_of(made(noise=0.2))
    observed = [o for o in observed_of(rows, TRUE) if o.group is Group.HALF]
    assert len(observed) == 10
    assert all(o.rates == 8 for o in observed)
    scales = scales_of(observed_of(rows, TRUE))
    assert scales.silicon in {0.1, 0.2}
    assert scales.architecture <= 0.05


def test_no_coefficient_exceeds_its_physics():
    rows = []
    for row in rows_of([r for r in made() if r.phase is Phase.DECODE]):
        # Long contexts cost ten times what physics allows.
        seconds = row.rate.seconds * (1 + row.rate.tokens / 1000)
        rows.append(dataclasses.replace(row, rate=dataclasses.replace(row.rate, seconds=seconds)))
    c = fit(rows, USUAL_ON_CUDA)
    assert 1.05 <= c.cache <= 3
    assert c.head_step <= 2


def test_the_work_of_query_heads_is_chosen_by_what_it_explains():
    chosen = {f["work"]: f for f in head_figures(rows_of(made(count=5)))}
    right = chosen["a thread block a score"]
    assert right["chosen_by"] == 5
    assert chosen["bytes of each head"]["chosen_by"] == 0
    assert right["median_error_percent"] < chosen["bytes of each head"]["median_error_percent"]


def test_the_scale_of_attention_is_that_of_its_growth():
    rows = rows_of([r for r in made(count=6) if r.phase is Phase.DECODE])
    assert attention_scale(rows, TRUE) < 0.01
    wrong = dataclasses.replace(TRUE, cache=2.4, head_step=1.44)
    assert 0.2 < attention_scale(rows, wrong) < 0.4
    # One device does not make it less than usual.
    assert attention_scale([row for row in rows if row.silicon == "c0"], TRUE) == 0.4


def test_intervals_are_widened_until_they_hold():
    rows = rows_of(made(noise=0.2))
    narrow = {
        phase: Scales(architecture=0.0, silicon=0.02, format=0.02, noise=0.03) for phase in Phase
    }
    right = {
        phase: Scales(architecture=0.0, silicon=0.2, format=0.02, noise=0.03) for phase in Phase
    }
    widened = widenings(rows, USUAL_ON_CUDA, narrow)[Phase.DECODE]
    assert widened.widen > 3
    assert min(widened.widen_of.values()) > 3
    assert widened.noise == narrow[Phase.DECODE].noise
    assert widenings(rows, USUAL_ON_CUDA, right)[Phase.DECODE].widen < 2


def test_the_judge_leaves_silicon_out():
    rows = rows_of(made(noise=0.1, count=6))
    judged = judge(rows, make_backends(rows))
    assert len(judged) == len(rows)
    table = {(f["phase"], f["weights"], f["backend"]): f for f in figures(judged)}
    decode = table["decode", "F16", "all"]
    assert (decode["silicon"], decode["rates"]) == (6, 24)
    assert decode["goal_percent"] == 5
    ends = {(f["phase"], f["context"]): f for f in by_context(judged)}
    assert ends["decode", 256]["rates"] == 24
    assert ends["decode", 2048]["heads"] == "shared"
    # What is left out has a factor that nothing tells of.
    assert 2 < decode["median_error_percent"]["engine"] < 20
    assert decode["median_error_percent"]["one constant"] is not None


def test_power_explains_prompts_that_were_made_with_it():
    rows = []
    for row in rows_of([r for r in made() if r.phase is Phase.PREFILL]):
        watts = 100.0 + 40 * (int(row.rate.device.id[1:]) * 7 % 10)
        powered = dataclasses.replace(
            row.rate.device, metrics={**row.rate.device.metrics, "tdp_w": watts}
        )
        (with_power,) = rows_of([dataclasses.replace(row.rate, device=powered)])
        seconds = predicted_seconds(with_power, TRUE)
        rows.append(dataclasses.replace(
            with_power, rate=dataclasses.replace(with_power.rate, seconds=seconds)
        ))  # fmt: skip
    found = [f for f in sustained_figures(rows) if f["backend"] == "cuda"]
    errors = {f["picojoules"]: f["mean_error_percent"] for f in found}
    assert min(errors, key=errors.get) == pytest.approx(1.6)
    assert errors[0.0] > 2 * min(errors.values())
