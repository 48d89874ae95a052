"""A comparison in parts: the first models are there while the rest is predicted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctm_gui.prediction import run as prediction_run
from ctm_gui.prediction.run import (
    ComparedModel,
    Comparison,
    WhatIf,
    compare,
    place_of,
    target_names,
)
from predictor.core.errors import CancelledError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, RunId, TargetId
from tests.unit.cost.graphs import make_target
from tests.unit.gui.compare.matrices import model_named

DEVICES = [make_target().device]
MODELS = [ComparedModel(n, f"m{n}", model_named(f"m{n}.onnx")) for n in range(1, 6)]


def test_parts_grow_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_run, "_PART_S", 0.0)
    parts: list[Comparison] = []
    whole = compare(MODELS, DEVICES, WhatIf(), parts.append)
    assert [len(part.models) for part in parts] == [1, 2, 3, 4]
    assert [part.rows for part in parts] == [whole.rows[: len(p.models)] for p in parts]
    assert [row.model_label for row in whole.rows] == ["m1", "m2", "m3", "m4", "m5"]


def test_what_is_quick_comes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_run, "_PART_S", 3600.0)
    parts: list[Comparison] = []
    assert len(compare(MODELS, DEVICES, WhatIf(), parts.append).rows) == 5
    assert parts == []


def test_a_part_may_stop_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_run, "_PART_S", 0.0)

    def stop(_: Comparison) -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        compare(MODELS, DEVICES, WhatIf(), stop)


def test_models_with_a_problem_keep_their_rows() -> None:
    broken = ComparedModel(9, "broken", model_named("broken.onnx"), "not available: pinned")
    found = compare([MODELS[0], broken, MODELS[1]], DEVICES, WhatIf())
    assert [row.prediction.problem for row in found.rows] == ["", "not available: pinned", ""]
    assert found.predicted == 2


def test_a_model_without_a_number_is_on_the_same_targets() -> None:
    broken = ComparedModel(9, "broken", model_named("broken.onnx"), "not available: pinned")
    cores = Device("d", "D", "V", Family.CPU, {"cores": 4.0, "dram_bw_gbps": 10.0})
    for threads in (None, 2):
        rows = compare([MODELS[0], broken], [cores], WhatIf(threads=threads)).rows
        assert len({TargetId.of(row.prediction) for row in rows}) == 1


def test_a_device_in_two_configurations_is_two_targets_until_a_what_if_makes_them_one() -> None:
    ways = tuple(Configuration("onnxruntime", Precision.FP32, threads) for threads in (1, 2))
    facts = {"cores": 4.0, "dram_bw_gbps": 10.0}
    devices = [Device("d", "D", "V", Family.CPU, facts, {}, ways[::step]) for step in (1, -1)]
    both = compare(MODELS[:1], devices, WhatIf())
    assert target_names(both.targets) == [
        "D (onnxruntime, fp32, 1 thread)",
        "D (onnxruntime, fp32, 2 threads)",
    ]
    assert target_names(both.targets[:1]) == ["D"]
    assert len(compare(MODELS[:1], devices, WhatIf(threads=4)).targets) == 1
    listed = compare(MODELS[:1], devices, WhatIf(), known={"d": devices[0]}).targets
    assert [target.device for target in listed] == [devices[0]] * 2, "its usual one stays the first"
    edited = compare(MODELS[:1], devices, WhatIf(), known={"d": replace(devices[0], name="Old")})
    assert edited.targets[0].device.name == "D"
    assert place_of(both.targets, both.targets[1].run_id) == 1
    assert place_of(both.targets[:1], both.targets[1].run_id) == 0, "the first of its device"
    assert (
        place_of(both.targets, None) == place_of(both.targets, RunId(TargetId("x", "", "", 0))) == 0
    )
