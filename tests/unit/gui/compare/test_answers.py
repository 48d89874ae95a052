"""The sentences over the chart: verdict, chance, what to measure; unknown cost never leads."""

from dataclasses import replace

import pytest

from ctm_gui.compare.answers import summary
from ctm_gui.prediction.columns import ComparisonColumns, GroupOrder, target_groups
from predictor.core.records import Basis, Configuration, Precision
from predictor.core.units import LatencyUnit
from predictor.services.prediction.fastest import fastest_within


def said(rows, budget_ms=None, unit=LatencyUnit.MS):
    return summary(ComparisonColumns(rows), budget_ms, unit)


def test_one_target_gets_a_verdict_with_its_chance(make_row):
    row = make_row("pi5", 52.0, low80_ms=40.0, high80_ms=68.0)
    assert said([row], 30.0) == (
        "resnet50: 52 ms on PI5, likely 40 to 68, misses 30 ms (< 1 % chance)"
    )
    assert said([row], 80.0) == "resnet50: 52 ms on PI5, likely 40 to 68, meets 80 ms (98 % sure)"
    assert said([row], 50.0).endswith("misses 50 ms (42 % chance); to be sure, measure it")


def test_several_targets_are_counted_with_the_fastest_and_the_nearest_miss(make_row):
    rows = [
        make_row("pi5", 52.0, low80_ms=40.0, high80_ms=68.0),
        make_row("gpu", 4.1, low80_ms=3.0, high80_ms=6.0),
        make_row("nano", 32.0, low80_ms=20.0, high80_ms=50.0),
        make_row("npu", None, problem="not supported"),
    ]
    assert said(rows, 30.0) == (
        "resnet50: 1 of 3 targets meets 30 ms, fastest 4.1 ms on GPU, likely 3 to 6 (> 99 % sure); "
        "nearest miss 32 ms on NANO, likely 20 to 50 (43 % chance); to be sure, measure on NANO; "
        "1 not predictable"
    )
    assert said(rows[:2], 1.0).startswith("resnet50: none of 2 targets meets 1 ms, nearest 4.1 ms")
    assert said(rows[:3], 50.0).endswith("; 2 in doubt, measure on PI5 first")


def test_a_measured_latency_leaves_nothing_to_measure(make_row):
    row = make_row("pi5", 29.0, low80_ms=28.0, high80_ms=31.0, predicted_ms=25.0)
    object.__setattr__(row.prediction, "basis", Basis.MEASURED)
    assert said([row], 30.0) == (
        "resnet50: 29 ms measured on PI5, likely 28 to 31, meets 30 ms (74 % sure)"
    )


def test_without_a_budget_rivals_of_the_fastest_are_named(make_row):
    rows = [
        make_row("a", 10.0, low80_ms=8.0, high80_ms=14.0),
        make_row("b", 12.0, low80_ms=9.0, high80_ms=20.0),
        make_row("c", 90.0, low80_ms=70.0, high80_ms=99.0),
    ]
    assert said(rows) == (
        "resnet50: fastest 10 ms on A, likely 8 to 14; B may be faster: measure to be sure"
    )
    assert said(rows[2:]) == "resnet50: 90 ms on C, likely 70 to 99"
    assert said(rows[:1], unit=LatencyUnit.FPS) == "resnet50: 100 FPS on A, likely 71.4 to 125"
    assert said([]) == ""


def test_unknown_cost_never_ranks_first(make_row):
    known = make_row("pi5", 40.0, "resnet50")
    unknown = make_row("pi5", 0.01, "custom", flagged_operators=("MyOp",))
    assert said([known, unknown], 30.0).splitlines() == [
        "resnet50: 40 ms on PI5, misses 30 ms",
        "custom: ≥ 0.01 ms on PI5, a lower limit: 1 operator is of unknown cost (MyOp)",
    ]
    predictions = [unknown.prediction, known.prediction]
    assert fastest_within(predictions, None) == 1
    assert fastest_within(predictions, 30.0) is None
    many = [make_row("pi5", 40.0 + i, f"m{i}") for i in range(3)]
    count, *each = said([*many, unknown], 41.0).splitlines()
    assert count == (
        "2 of 4 predictions meet 41 ms (4 models on 1 target); "
        "1 model with operators of unknown cost not counted"
    )
    assert each == [
        *(f"m{i}: 4{i} ms on PI5" for i in range(3)),
        "custom: ≥ 0.01 ms on PI5, a lower limit: 1 operator is of unknown cost (MyOp)",
    ]


def test_a_measured_latency_ranks_before_the_lower_limits_of_its_model(make_row):
    measured = make_row("pi5", 40.0, flagged_operators=("MyOp",))
    object.__setattr__(measured.prediction, "basis", Basis.MEASURED)
    limit = make_row("gpu", 0.01, flagged_operators=("MyOp",), low80_ms=0.005, high80_ms=0.02)
    assert said([limit, measured]) == "resnet50: 40 ms measured on PI5; 1 lower limit"


def runs(row, runtime, precision, notes=()):
    configuration = Configuration(runtime, precision, 0, 1)
    prediction = replace(row.prediction, configuration=configuration)
    return replace(row, prediction=prediction, notes=notes)


def test_where_runtimes_or_precisions_differ_they_stand_beside_the_number(make_row):
    gpu = runs(make_row("gpu", 4.0), "tensorrt", Precision.FP16)
    pi5 = runs(make_row("pi5", 9.0), "tflite", Precision.FP32)
    assert said([gpu, pi5]) == "resnet50: fastest 4 ms on GPU (tensorrt fp16)"
    assert said([gpu, pi5], 8.0) == (
        "resnet50: 1 of 2 targets meets 8 ms, fastest 4 ms on GPU (tensorrt fp16); "
        "nearest miss 9 ms on PI5 (tflite fp32)"
    )
    alike = runs(make_row("pi5", 9.0), "tensorrt", Precision.FP16)
    assert said([gpu, alike]) == "resnet50: fastest 4 ms on GPU"


def test_int8_is_no_answer_for_the_file_as_it_is(make_row):
    npu = runs(make_row("npu", 1.0), "hailort", Precision.INT8, ("Quantise it.",))
    gpu = runs(make_row("gpu", 4.0), "tensorrt", Precision.FP16)
    first = "fastest 4 ms on GPU (tensorrt fp16)"
    quantised = "1 ms on NPU (hailort int8, needs a quantised model)"
    assert said([npu, gpu]) == f"resnet50: {first}; apart from {quantised}\nQuantise it."
    assert said([npu, gpu], 5.0) == (
        f"resnet50: 2 of 2 targets meet 5 ms, {first}; apart from {quantised}\nQuantise it."
    )
    assert said([npu, gpu], 2.0).startswith(
        f"resnet50: 1 of 2 targets meets 2 ms, fastest {quantised}; nearest miss 4 ms on GPU"
    )


def from_specs(row, class_chips):
    prediction = replace(row.prediction, basis=Basis.ZERO_SHOT, class_chips=class_chips)
    return replace(row, prediction=prediction)


def test_a_class_that_was_checked_on_few_chips_is_not_the_fastest(make_row):
    few, checked = from_specs(make_row("phone", 1.0), 4), from_specs(make_row("gpu", 4.0), 5)
    assert said([few, checked]) == (
        "resnet50: fastest 4 ms on GPU; apart from 1 ms on PHONE, but few chips of its kind were "
        "checked"
    )
    assert said([few, checked], 5.0).startswith(
        "resnet50: 2 of 2 targets meet 5 ms, fastest 4 ms on GPU; apart from 1 ms on PHONE, but few"
    )
    another = from_specs(make_row("npu", 2.0), 0)
    assert said([few, another]) == (
        "resnet50: least 1 ms on PHONE; few chips of its kind were checked"
    )


def test_targets_of_unknown_cost_stand_behind_those_that_are_counted(make_row):
    rows = [
        make_row("none", None),
        make_row("unknown", 0.01, flagged_operators=("MyOp",)),
        make_row("known", 40.0),
    ]
    groups = target_groups(ComparisonColumns(rows)).ordered(GroupOrder.LATENCY)
    assert [groups.name(place) for place in range(3)] == ["KNOWN", "UNKNOWN", "NONE"]


def test_a_device_in_several_configurations_is_named_with_each(make_row):
    rows = [make_row("pi5", 10.0, runtime="ncnn"), make_row("pi5", 20.0, runtime="tflite")]
    assert said(rows, 15.0) == (
        "resnet50: 1 of 2 targets meets 15 ms, fastest 10 ms on PI5 (ncnn, fp32, 4 threads); "
        "nearest miss 20 ms on PI5 (tflite, fp32, 4 threads)"
    )


@pytest.mark.parametrize("budget_ms", [None, 30.0])
def test_a_model_without_any_number_says_why(make_row, budget_ms):
    row = make_row("npu", None, problem="not supported: fp32")
    assert said([row], budget_ms) == "resnet50: no number: not supported: fp32"


def of_batch(row, batch):
    """A row whose target asks for a batch."""
    configuration = replace(row.prediction.configuration, batch=batch)
    return replace(
        row, prediction=replace(row.prediction, configuration=configuration), batch=batch
    )


def test_calls_of_several_batches_are_not_ranked_by_their_time_alone(make_row):
    rows = [
        make_row("gpu", 4.0, low80_ms=3.0, high80_ms=6.0),  # 250 a second
        of_batch(make_row("gpu", 16.0, low80_ms=2.0, high80_ms=32.0), 8),  # 500 a second
        of_batch(make_row("gpu", 64.0), 40),  # 625 a second
    ]
    gpu = "GPU (ncnn, fp32, 4 threads{})"
    one, eight, forty = (gpu.format(words) for words in ("", ", batch 8", ", batch 40"))
    # The second reaches below the first and is no rival of it: it holds eight times as much.
    expected = f"resnet50: shortest call 4 ms on {one}, likely 3 to 6; most a second 625 FPS on"
    assert said(rows) == f"{expected} {forty}"
    assert said(rows, unit=LatencyUnit.FPS) == f"{expected} {forty}"
    assert said(rows, 20.0) == (
        f"resnet50: 2 of 3 targets meet 20 ms a call, shortest call 4 ms on {one}, likely 3 to 6 "
        f"(> 99 % sure); nearest miss 64 ms on {forty}; most a second 500 FPS on {eight}; "
        f"to be sure, measure on {eight}"
    )
    assert said(rows, 1.0).startswith("resnet50: none of 3 targets meets 1 ms a call, nearest 4 ms")
    assert "most a second" not in said(rows, 1.0)


def test_many_models_are_counted_and_then_answered_one_by_one(make_row):
    rows = [make_row("gpu", 4.0 + place, model) for place, model in enumerate("abcd")]
    rows += [make_row("pi5", 9.0, model) for model in "abcd"]
    assert said(rows, 8.0).splitlines() == [
        "4 of 8 predictions meet 8 ms (4 models on 2 targets)",
        *(f"{model}: fastest {4 + place} ms on GPU" for place, model in enumerate("abcd")),
    ]
    assert said(rows).splitlines()[0] == "a: fastest 4 ms on GPU"  # the title counts
    batched = said([*rows, of_batch(make_row("gpu", 19.0, "a"), 8)]).splitlines()
    assert batched[0].startswith("a: shortest call 4 ms on GPU")
    assert batched[1].startswith("b: fastest 5 ms on GPU")


def test_by_rate_the_largest_batch_leads_the_chart(make_row):
    rows = [make_row("gpu", 4.0), of_batch(make_row("gpu", 16.0), 8), make_row("pi", 10.0)]
    groups = target_groups(ComparisonColumns(rows))
    assert len(groups) == 3, "one of a batch is a target of its own"
    for unit, order in ((LatencyUnit.MS, [0, 2, 1]), (LatencyUnit.FPS, [1, 0, 2])):
        assert groups.ordered(GroupOrder.LATENCY, unit).rows.tolist() == order
