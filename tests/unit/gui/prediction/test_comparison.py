"""A comparison in parts: the first models are there while the rest is predicted."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm_gui.prediction import comparison as comparing
from ctm_gui.prediction.comparison import (
    ComparedModel,
    Comparison,
    compare,
    place_of,
    target_names,
)
from ctm_gui.targets.what_ifs import WhatIf
from predictor.core.errors import CancelledError, InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, RunId, TargetId
from predictor.graph.model import Model
from predictor.graph.scaling import at_batch
from tests.support.graphs import make_target
from tests.support.matrices import model_named

DEVICES = [make_target().device]
MODELS = [ComparedModel(n, f"m{n}", model_named(f"m{n}.onnx")) for n in range(1, 6)]


def test_parts_grow_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "_PART_S", 0.0)
    parts: list[Comparison] = []
    whole = compare(MODELS, DEVICES, parts.append)
    assert [len(part.models) for part in parts] == [1, 2, 3, 4]
    assert [part.rows for part in parts] == [whole.rows[: len(p.models)] for p in parts]
    assert [row.model_label for row in whole.rows] == ["m1", "m2", "m3", "m4", "m5"]


def test_what_is_quick_comes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "_PART_S", 3600.0)
    parts: list[Comparison] = []
    assert len(compare(MODELS, DEVICES, parts.append).rows) == 5
    assert parts == []


def test_a_comparison_without_rows_names_what_is_missing() -> None:
    assert Comparison().missing == "Open a model and tick a target"
    assert compare([], DEVICES).missing == "Open a model"
    assert compare(MODELS, []).missing == "Tick a target"
    assert compare(MODELS, DEVICES).missing == ""


def test_a_part_may_stop_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "_PART_S", 0.0)

    def stop(_: Comparison) -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        compare(MODELS, DEVICES, stop)


def test_models_with_a_problem_keep_their_rows() -> None:
    broken = ComparedModel(9, "broken", model_named("broken.onnx"), "not available: pinned")
    found = compare([MODELS[0], broken, MODELS[1]], DEVICES)
    assert [row.prediction.problem for row in found.rows] == ["", "not available: pinned", ""]
    assert found.predicted == 2


def test_a_model_without_a_number_is_on_the_same_targets() -> None:
    broken = ComparedModel(9, "broken", model_named("broken.onnx"), "not available: pinned")
    cores = Device(
        id="d",
        name="D",
        vendor="V",
        family=Family.CPU,
        metrics={"cores": 4.0, "dram_bw_gbps": 10.0},
    )
    for threads in (None, 2):
        device = replace(cores, configurations=(WhatIf(threads=threads).of(cores),))
        rows = compare([MODELS[0], broken], [device]).rows
        assert len({TargetId.of(row.prediction) for row in rows}) == 1


def test_a_device_in_two_configurations_is_two_targets() -> None:
    ways = tuple(Configuration("onnxruntime", Precision.FP32, threads) for threads in (1, 2))
    facts = {"cores": 4.0, "dram_bw_gbps": 10.0}
    devices = [
        Device(
            id="d",
            name="D",
            vendor="V",
            family=Family.CPU,
            metrics=facts,
            sources={},
            configurations=ways[::step],
        )
        for step in (1, -1)
    ]
    both = compare(MODELS[:1], devices)
    assert target_names(both.targets) == [
        "D (onnxruntime, fp32, 1 thread)",
        "D (onnxruntime, fp32, 2 threads)",
    ]
    assert target_names(both.targets[:1]) == ["D"]
    listed = compare(MODELS[:1], devices, devices_by_id={"d": devices[0]}).targets
    assert [target.device for target in listed] == [devices[0]] * 2, "its usual one stays the first"
    edited = compare(MODELS[:1], devices, devices_by_id={"d": replace(devices[0], name="Old")})
    assert edited.targets[0].device.name == "D"
    assert place_of(both.targets, both.targets[1].run_id) == 1
    assert place_of(both.targets[:1], both.targets[1].run_id) == 0, "the first of its device"
    assert (
        place_of(both.targets, None) == place_of(both.targets, RunId(TargetId("x", "", "", 0))) == 0
    )


GPU = DEVICES[0]


def on_batches(*batches: int) -> list[Device]:
    """A device once for each batch, as the ticked targets give it."""
    usual = GPU.configurations[0]
    ways = [replace(usual, batch=batch) for batch in batches]
    return [replace(GPU, configurations=(way, *GPU.configurations)) for way in ways]


def read_at(model: Model, batch: int) -> Model:
    graph = replace(at_batch(model.graph, batch), fingerprint=f"{model.graph.fingerprint}@{batch}")
    return replace(model, graph=graph)


def test_each_batch_is_a_row_of_the_graph_that_was_read_at_it() -> None:
    first, second = MODELS[:2]
    read = {8: read_at(first.model, 8)}
    refused = {8: InputError("m2.onnx", "it cannot run at batch 8: pinned", "export it again")}
    models = [replace(first, batches=read), replace(second, batches=refused)]
    comparison = compare(models, on_batches(0, 8, 16))
    assert [(row.batch, row.prediction.configuration.batch) for row in comparison.rows] == [
        (0, 1), (8, 8), (16, 16), (0, 1), (8, 8), (16, 16)
    ]  # fmt: skip
    predictions = [row.prediction for row in comparison.rows]
    assert predictions[1].fingerprint == "m1.onnx@8"
    assert predictions[2].problem == "being read at batch 16"
    assert predictions[4].problem == "it cannot run at batch 8: pinned; export it again"
    assert comparison.predicted == 6
    assert comparison.pair(0, 1)[0].model is read[8]
    assert comparison.pair(1, 0)[0].model is second.model
    assert comparison.readings == [first.model, read[8], second.model]
    assert target_names(comparison.targets) == [
        f"Made Up 1 (pytorch, fp32{batch})" for batch in ("", ", batch 8", ", batch 16")
    ]
    # As if the batch were that of the model itself.
    alone = compare([ComparedModel(1, "m1", read[8])], DEVICES).rows[0].prediction
    assert predictions[1].latency_ms == alone.latency_ms
    assert place_of(comparison.targets, comparison.targets[2].run_id) == 2


@settings(deadline=None, max_examples=20)
@given(st.sets(st.integers(1, 512), min_size=2, max_size=4))
def test_a_call_with_more_in_it_is_never_shorter(batches: set[int]) -> None:
    model = MODELS[0].model
    ascending = sorted(batches)
    compared = replace(MODELS[0], batches={n: read_at(model, n) for n in ascending})
    rows = compare([compared], on_batches(0, *ascending)).rows
    times = [row.prediction.latency_ms or 0.0 for row in rows]
    assert all(after >= before * (1 - 1e-6) for before, after in pairwise(times))
    bounds = [row.prediction.bound_ms for row in rows]
    assert all(b is None or b <= t * (1 + 1e-6) for b, t in zip(bounds, times, strict=True))


def test_a_comparison_comes_with_its_columns_read() -> None:
    parts: list[Comparison] = []
    whole = compare(MODELS, DEVICES, parts.append)
    read = vars(whole.columns).copy()
    whole.columns.read()
    assert vars(whole.columns) == read
    assert read["targets"]
    assert len(read["latency_ms"]) == len(whole.rows)
