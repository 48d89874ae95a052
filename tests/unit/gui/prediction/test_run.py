"""A comparison in parts: the first models are there while the rest is predicted."""

from __future__ import annotations

import pytest

from ctm_gui.prediction import run as prediction_run
from ctm_gui.prediction.run import ComparedModel, Comparison, WhatIf, compare
from predictor.core.errors import CancelledError
from predictor.core.metrics import Family
from predictor.core.records import Device, TargetId
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
