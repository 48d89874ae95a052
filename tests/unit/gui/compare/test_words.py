"""The Compare view without a widget: groups, order, verdicts, sentences."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.compare.words import details
from ctm_gui.prediction.columns import (
    ComparisonColumns,
    GroupOrder,
    TargetGroups,
    target_groups,
)
from predictor.core.records import Basis, Precision
from predictor.core.units import LatencyUnit
from predictor.presentation.verdict import Verdict, is_over, verdict, verdict_text


def members(groups: TargetGroups) -> list[list[int]]:
    return [groups.members(group).tolist() for group in range(len(groups))]


def names(groups: TargetGroups) -> list[str]:
    return [groups.name(group) for group in range(len(groups))]


@pytest.mark.parametrize(
    ("latency", "low", "high", "expected"),
    [
        (20.0, None, None, Verdict.MEETS),
        (30.0, None, None, Verdict.MEETS),
        (20.0, 18.0, 29.0, Verdict.MEETS),
        (20.0, 18.0, 31.0, Verdict.MEETS_MAYBE),
        (40.0, 29.0, 50.0, Verdict.OVER_MAYBE),
        (40.0, 30.5, 50.0, Verdict.OVER),
        (40.0, None, None, Verdict.OVER),
        (None, None, None, Verdict.NONE),
    ],
)
def test_the_verdict_on_a_budget_of_30_ms(make_row, latency, low, high, expected):
    prediction = make_row(latency_ms=latency, low80_ms=low, high80_ms=high).prediction
    assert verdict(prediction, 30.0) is expected
    assert verdict(prediction, None) is Verdict.NONE


def test_a_verdict_over_the_budget_says_how_many_times_it_takes(make_row):
    assert verdict_text(make_row(latency_ms=45.0).prediction, 30.0) == "over (1.5×)"
    assert verdict_text(make_row(latency_ms=15.0).prediction, 30.0) == "meets"
    assert verdict_text(make_row(latency_ms=15.0).prediction, None) == "—"


def test_rows_of_one_target_stand_together_whatever_the_models_own_batch(make_row):
    rows = [
        make_row("rpi5", model="a", batch=1),
        make_row("tx2", model="a", batch=1),
        make_row("rpi5", model="b", batch=8),
        make_row("rpi5", model="a", runtime="tflite"),
    ]
    groups = target_groups(ComparisonColumns(rows))
    assert members(groups) == [[0, 2], [1], [3]]
    assert groups.detail(0) == "4 threads / 4 threads, batch 8"
    assert [groups.chip(place) for place in range(3)] == ["ncnn fp32", "ncnn fp32", "tflite fp32"]


def test_the_same_model_twice_on_one_target_makes_two_groups(make_row):
    rows = [make_row(batch=1), make_row(batch=8)]
    assert members(target_groups(ComparisonColumns(rows))) == [[0], [1]]


def test_targets_are_ordered_by_their_fastest_model_and_those_without_a_number_come_last(make_row):
    rows = [
        make_row("none", None, problem="not supported"),
        make_row("slow", 90.0),
        make_row("fast", 50.0),
        make_row("fast", 2.0, model="small"),
        make_row("npu", 10.0, family="npu"),
    ]
    groups = target_groups(ComparisonColumns(rows))
    by_latency = groups.ordered(GroupOrder.LATENCY)
    assert names(by_latency) == ["FAST", "NPU", "SLOW", "NONE"]
    by_family = groups.ordered(GroupOrder.FAMILY)
    assert names(by_family) == ["FAST", "SLOW", "NONE", "NPU"]
    by_name = groups.ordered(GroupOrder.NAME)
    assert names(by_name) == ["FAST", "NONE", "NPU", "SLOW"]


def test_hovering_tells_everything_that_the_number_rests_on(make_row):
    row = make_row(
        latency_ms=45.0,
        low80_ms=40.0,
        high80_ms=60.0,
        bound_ms=9.0,
        fits_memory=False,
        out_of_distribution="wide layers",
        flagged_operators=("a", "b", "c", "d\u202e"),
    )
    assert details(row, LatencyUnit.MS, 30.0).splitlines() == [
        "resnet50 on RPI5",
        "Latency: ≥ 45 ms (P50, of what is counted)",
        "Bound: 9 ms",
        "Uncertain: wide layers",
        "Budget 30 ms: over (1.5×)",
        "Memory: does not fit",
        "Not counted in full: a, b, c and 1 more",
        "Configuration: ncnn, fp32, 4 threads",
        "Basis: analytic, engine roofline 1",
    ]


def test_hovering_explains_a_mixed_precision(make_row):
    row = make_row()
    mixed = replace(row.prediction.configuration, precision=Precision.AMP_FP16)
    prediction = replace(row.prediction, configuration=mixed)
    text = details(replace(row, prediction=prediction), LatencyUnit.MS, None)
    assert Precision.AMP_FP16.explanation in text.splitlines()
    assert "mixed precision" not in details(row, LatencyUnit.MS, None)


@pytest.mark.parametrize(
    ("signature", "words"),
    [("ab" * 16, "your signature abababab"), (None, "measurements of this target")],
)
def test_hovering_tells_how_a_number_was_adapted(make_row, signature, words):
    row = make_row()
    probed = replace(row.prediction, basis=Basis.PROBED, signature=signature)
    text = details(replace(row, prediction=probed), LatencyUnit.MS, None)
    assert f"Adapted by: Bayesian posterior over {words}" in text.splitlines()
    assert "Adapted by" not in details(row, LatencyUnit.MS, None)


def test_hovering_tells_the_evidence_in_lines_that_fit_beside_the_window(make_row):
    row = make_row()
    evidence = (
        "from NVIDIA Jetson AGX Orin 64 GB (GPU), which has the same chip or cores (tensorrt fp16; "
        "64 networks); checked on 8 chips of this kind: median error 20.4 %"
    )
    lines = details(
        replace(row, prediction=replace(row.prediction, evidence=evidence)), LatencyUnit.MS, None
    ).splitlines()

    first = next(place for place, line in enumerate(lines) if line.startswith("From NVIDIA Jetson"))
    assert lines[first + 1].startswith("    ")
    assert max(map(len, lines)) <= 90
    told = " ".join(line.strip() for line in lines[first : first + 2])
    assert told == evidence.replace("from", "From", 1)


def test_hovering_over_a_cell_without_a_number_tells_the_reason(make_row):
    text = details(make_row(latency_ms=None, problem="not supported: fp32"), LatencyUnit.MS, 30.0)
    assert "No number: not supported: fp32" in text
    assert "Budget" not in text


@given(st.lists(st.sampled_from(["rpi", "orin", "rtx 3090", "npu"]), max_size=12), st.text())
def test_filtering_twice_is_filtering_once_and_keeps_every_word(make_row, devices, search):
    rows = [make_row(device) for device in devices]
    columns = ComparisonColumns(rows)
    once = columns.search_mask(search)
    kept = ComparisonColumns([row for row, keep in zip(rows, once, strict=True) if keep])
    assert kept.search_mask(search).all()


def test_the_filter_looks_through_names_configuration_and_problem(make_row):
    rows = [make_row("rpi5"), make_row("tx2", None, problem="missing metric dram_gb")]
    columns = ComparisonColumns(rows)
    assert columns.search_mask("NCNN fp32").tolist() == [True, True]
    assert columns.search_mask("rpi ncnn").tolist() == [True, False]
    assert columns.search_mask("missing").tolist() == [False, True]


def test_only_a_number_can_be_over(make_row):
    assert not is_over(make_row(latency_ms=None).prediction, 1.0)
    assert is_over(make_row(latency_ms=2.0).prediction, 1.0)


def test_details_of_a_batch_tell_what_an_item_takes(make_row):
    assert "8 items a call: 2 ms each, 500 FPS" in details(
        make_row(latency_ms=16.0, batch=8), LatencyUnit.MS, None
    )
    assert "items a call" not in details(make_row(latency_ms=16.0), LatencyUnit.MS, None)
