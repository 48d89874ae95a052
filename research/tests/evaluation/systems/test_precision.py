"""INT8 runs of a runtime left out, their FP32 twins, and the table of both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctm_research.evaluation.judge.judged import Class
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.precision import TWIN, precision_entry, precision_field
from predictor.core.records import Configuration, Precision
from research.tests.evaluation.systems.small_field import NETWORKS, small_field

ENOUGH = 1e9


def twins() -> Field:
    """Return three devices of which each ran all networks in FP32, and in INT8 eight times as fast.

    The small field's six silicon are twice as fast one after the other.
    """
    field = small_field()
    judged = field.judged
    device = np.arange(6) % 3
    targets = [
        replace(
            judged.targets[number],
            configuration=Configuration("ncnn", Precision.INT8 if place >= 3 else Precision.FP32),
        )
        for place, number in enumerate(device.tolist())
    ]
    judged = replace(
        judged,
        classes=(Class("ncnn", "arm"),),
        device=device,
        silicon=device,
        targets=targets,
    )
    return replace(field, judged=judged)


def test_int8_of_the_runtime_is_left_out_and_its_fp32_stays() -> None:
    field = precision_field(twins())

    (fold,) = field.folds
    assert len(fold.rows) == 3 * NETWORKS
    assert set(field.judged.target[fold.rows].tolist()) == {3, 4, 5}
    assert set(field.judged.target[fold.train].tolist()) == {0, 1, 2}


def test_other_runtimes_are_not_left_out() -> None:
    assert precision_field(small_field()).folds == ()


def test_the_twin_is_eight_times_too_slow_and_its_level_is_soon_known(tmp_path: Path) -> None:
    entry = precision_entry(twins(), [], ["class-roofline"], tmp_path, ENOUGH)

    (roofline, twin) = entry["systems"]
    assert entry["missing"] == 0
    assert entry["classes"] == [{"name": "arm x ncnn", "measurements": 36, "silicon": 3}]
    assert roofline["ks"]["0"]["all"] == pytest.approx(0, abs=1e-6)
    assert twin["name"] == TWIN
    assert twin["ks"]["0"]["arm x ncnn"] == pytest.approx(700)
    assert twin["ks"]["3"]["all"] == pytest.approx(0, abs=1e-6)


def test_what_no_time_was_left_for_has_no_errors(tmp_path: Path) -> None:
    entry = precision_entry(twins(), [], ["class-roofline"], tmp_path, 0)

    assert entry["missing"] == 1
    assert entry["systems"][0]["ks"]["0"] == {}
