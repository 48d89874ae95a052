"""What the History view shows: rows, filters, columns, words and points, without a window."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from ctm_gui.history.past_rows import PastFilter, PastRows, TruthChart, past_rows
from ctm_gui.history.past_tables import (
    ErrorsGrid,
    PastGrid,
    change_summary,
    row_details,
    summary,
    warnings,
)
from predictor.core.documents import PredictionSettings, Provenance
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Measurement, Precision
from predictor.core.stored import StoredMeasurement, StoredPrediction
from predictor.core.units import LatencyUnit
from predictor.services.history.changes import Change
from predictor.services.history.past_predictions import PastContent
from predictor.services.history.truth import pairs

DAY_NS = 24 * 3600 * 10**9
NOW_NS = 1_000 * DAY_NS
PI = Configuration("ncnn", Precision.FP16, 4, 2)


def stored(
    number: int, latency_ms: float | None = 10.0, *, days_ago: int = 0, **facts: Any
) -> StoredPrediction:
    marks = {name: facts.pop(name) for name in ("tags", "note") if name in facts}
    prediction = Prediction(
        model=facts.pop("model", "net.onnx"),
        fingerprint=f"{number:064x}",
        device_id=facts.pop("device_id", "rpi5"),
        configuration=PI,
        engine="closertome/1",
        basis=facts.pop("basis", Basis.ZERO_SHOT if latency_ms else None),
        latency_ms=latency_ms,
        **facts,
    )
    made_ns = NOW_NS - days_ago * DAY_NS
    return StoredPrediction(
        id=f"{number:032x}",
        created_ns=made_ns,
        path="",
        settings_hash="0" * 64,
        prediction=prediction,
        **marks,
    )


def measured(number: int, value_ms: float) -> StoredMeasurement:
    record = Measurement(
        id=f"{number:032x}",
        fingerprint=f"{number:064x}",
        device_id="rpi5",
        configuration=PI,
        samples_ns=(),
        value_ms=value_ms,
        statistic="median",
        protocol="typed",
        provenance=Provenance(),
    )
    return StoredMeasurement(record, NOW_NS)


def rows_of(
    predictions: list[StoredPrediction],
    measurements: list[StoredMeasurement] = [],  # noqa: B006
) -> PastRows:
    found = tuple(pairs(predictions, measurements))
    content = PastContent(tuple(predictions), len(predictions), tuple(measurements), found)
    return past_rows(content, {})


@pytest.fixture
def data() -> PastRows:
    return rows_of(
        [
            stored(1, tags=("board",), note="cold"),
            stored(2, 20.0, days_ago=3, model="vit.onnx", low80_ms=15.0, high80_ms=30.0),
            stored(3, None, days_ago=40, problem="not supported"),
            stored(4, 8.0, days_ago=400, device_id="rpi4", basis=Basis.MEASURED, predicted_ms=6.0),
        ],
        [measured(1, 8.0), measured(2, 40.0)],
    )


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (PastFilter(), [0, 1, 2, 3]),
        (PastFilter(search="VIT rpi5"), [1]),
        (PastFilter(search="cold"), [0]),
        (PastFilter(search="board ncnn"), [0]),
        (PastFilter(search="nonsense"), []),
        (PastFilter(model="net.onnx"), [0, 2, 3]),
        (PastFilter(device_id="rpi4"), [3]),
        (PastFilter(basis="—"), [2]),
        (PastFilter(basis="measured"), [3]),
        (PastFilter(tag="board"), [0]),
        (PastFilter(days=1), [0]),
        (PastFilter(days=7), [0, 1]),
        (PastFilter(days=365), [0, 1, 2]),
        (PastFilter(measured=True), [0, 1, 3]),
        (PastFilter(model="net.onnx", measured=True, days=7), [0]),
    ],
)
def test_filters(data: PastRows, wanted: PastFilter, rows: list[int]) -> None:
    assert np.flatnonzero(data.mask(wanted, NOW_NS)).tolist() == rows


def cells(data: PastRows, row: int, unit: LatencyUnit = LatencyUnit.MS) -> dict[str, str]:
    return {column.key: column.text(row) for column in PastGrid(data, unit).columns}


def test_a_lower_limit_has_its_sign_in_the_table_and_where_one_hovers() -> None:
    data = rows_of([stored(1, flagged_operators=("MyOp_1",)), stored(2)])
    grid = PastGrid(data, LatencyUnit.MS)
    (column,) = [each for each in grid.columns if each.key == "latency"]
    assert [column.text(row) for row in range(2)] == ["≥ 10", "10"]
    assert "Predicted: ≥ 10 ms" in row_details(data.rows[0], LatencyUnit.MS)
    assert "Predicted: ≤ 200 FPS" in row_details(data.rows[0], LatencyUnit.FPS)


def test_cells_tell_the_engines_own_number_and_its_error(data: PastRows) -> None:
    first, second, third, fourth = (cells(data, row) for row in range(4))
    assert (first["latency"], first["measured"], first["error"]) == ("10", "8", "+25 %")
    assert (first["tags"], first["note"]) == ("board", "cold")
    assert (second["interval"], second["error"]) == ("15 – 30", "−50 %")
    assert (third["latency"], third["error"], third["basis"]) == ("—", "—", "—")
    # A published latency stood in the place of the engine's 6 ms.
    assert (fourth["latency"], fourth["measured"], fourth["error"]) == ("6", "8", "−25 %")


def test_rates_count_the_batch(data: PastRows) -> None:
    assert cells(data, 0, LatencyUnit.FPS)["latency"] == "200"


def test_rows_sort_by_the_size_of_their_error(data: PastRows) -> None:
    grid = PastGrid(data, LatencyUnit.MS)
    column = [c.key for c in grid.columns].index("error")
    grid.sort(column, descending=True)
    assert grid.order.tolist() == [1, 0, 3, 2]


def test_the_summary_counts_and_judges(data: PastRows) -> None:
    assert summary(data) == (
        "4 predictions; 2 measured latencies, median error 37.5 %, "
        "0 of 1 inside their 80 % interval."
    )
    text = summary(rows_of([stored(1)]))
    assert text.startswith("1 prediction of 1 model on 1 device since ")
    assert text.endswith("; nothing measured yet.")
    assert summary(dataclasses.replace(data, count=9)).startswith("The last 4 of 9 predictions;")


def test_the_errors_by_target(data: PastRows) -> None:
    grid = ErrorsGrid(data)
    assert [column.text(0) for column in grid.columns] == [
        "rpi5, ncnn, fp16, 4 threads", "2", "37.5 %", "−12.5 %", "0 of 1", "0 of 1", "from specs",
        "closertome/1",
    ]  # fmt: skip


def test_a_target_is_warned_about_once() -> None:
    interval = {"low80_ms": 9.0, "high80_ms": 11.0}
    past = [
        p
        for number in range(4)
        for p in (
            stored(number, **interval),
            dataclasses.replace(
                stored(number, **interval, basis=Basis.PROBED), id=f"{number + 50:032x}"
            ),
        )
    ]
    data = rows_of(past, [measured(number, 5.0) for number in range(4)])
    (sentence,) = warnings(data)
    assert sentence.startswith("rpi5, ncnn, fp16, 4 threads: 4 of the last 4 measured latencies")
    assert "one of 625 cases" in sentence
    assert "The device is faster than predicted" in sentence
    assert warnings(rows_of(past[:4], [measured(0, 5.0)])) == []


def test_details_of_a_row_tell_where_a_shown_latency_came_from(data: PastRows) -> None:
    row = dataclasses.replace(
        data.rows[3],
        stored=dataclasses.replace(
            data.rows[3].stored,
            settings=PredictionSettings({"program": "0.1.0", "dimensions": {"n": 3}}),
            prediction=dataclasses.replace(
                data.rows[3].stored.prediction, provenance="MLPerf: median"
            ),
        ),
    )
    lines = row_details(row, LatencyUnit.MS).splitlines()
    assert "Shown was 8 ms:" in lines
    assert "MLPerf: median" in lines
    assert "Dimensions: n = 3" in lines
    assert "Program: CloserToMe 0.1.0" in lines


def test_rows_say_how_their_number_was_adapted() -> None:
    data = rows_of(
        [
            stored(1, basis=Basis.PROBED, signature="5" * 32, fine_tuned=True),
            stored(2, basis=Basis.PROBED),
            stored(3),
        ]
    )
    assert [cells(data, row)["adaptation"] for row in range(3)] == [
        "FiLM and posterior",
        "posterior",
        "—",
    ]
    assert data.mask(PastFilter(search="film"), NOW_NS).tolist() == [True, False, False]
    first, second, third = (row_details(row, LatencyUnit.MS) for row in data.rows)
    told = "Adapted by: FiLM fine-tuned, then a Bayesian posterior over your signature 55555555"
    assert told in first.splitlines()
    assert "Adapted by: Bayesian posterior over measurements of this target" in second
    assert "Adapted" not in third


def test_points_lie_on_logarithmic_axes_that_are_alike(data: PastRows) -> None:
    chart = TruthChart(data.pairs)
    assert chart.measured == pytest.approx(np.log10([8.0, 40.0]))
    assert chart.predicted == pytest.approx(np.log10([10.0, 20.0]))
    low, high = chart.whiskers
    assert np.isnan(low).tolist() == [True, False]
    assert high[1] == pytest.approx(np.log10(30.0))
    start, end = chart.span()
    assert start < np.log10(8.0) < np.log10(40.0) < end
    assert chart.bases() == [Basis.ZERO_SHOT]
    rate = TruthChart(data.pairs, LatencyUnit.FPS)
    assert rate.measured == pytest.approx(np.log10([250.0, 50.0]))


def test_a_chart_without_points_spans_one_decade() -> None:
    assert TruthChart().span() == (0.0, 1.0)


def test_changes_are_summed_up() -> None:
    then = stored(1)
    same = Change(then, then.prediction)
    slower = Change(then, dataclasses.replace(then.prediction, latency_ms=15.0))
    gone = Change(then, None, "the device is no longer there")
    assert change_summary((same, slower, gone)) == (
        "1 of 2 as they were, the largest change is 50 %, 1 cannot be predicted now."
    )


def test_older_runs_of_a_model_on_a_target_are_one_row_with_their_number() -> None:
    again, kept = stored(9, days_ago=1), stored(9, days_ago=2, note="before the update")
    data = rows_of([stored(9), again, kept, stored(8), stored(9, days_ago=3, model="copy.onnx")])

    assert data.runs.tolist() == [3, 3, 3, 1, 1]
    assert cells(data, 0)["runs"] == "3"
    shown = np.flatnonzero(data.mask(PastFilter(newest=True), NOW_NS))
    assert shown.tolist() == [0, 2, 3, 4]
    assert data.with_runs(np.array([0, 3])).tolist() == [0, 1, 3]


def test_a_measured_row_has_the_interval_of_what_was_predicted_of_it() -> None:
    said = stored(1, 10.0, days_ago=1, low80_ms=8.0, high80_ms=12.5)
    # Its own interval is that of another run of the measured latency.
    since: dict[str, Any] = {"basis": Basis.MEASURED, "low80_ms": 8.9, "high80_ms": 9.1}
    after = stored(1, 9.0, days_ago=-1, predicted_ms=10.0, **since)
    after = dataclasses.replace(after, id="e" * 32)
    other = stored(2, 9.0, predicted_ms=10.0, **since)
    data = rows_of([after, other, said], [measured(1, 9.0)])
    texts = [(c["latency"], c["interval"], c["measured"]) for c in (cells(data, r) for r in (0, 1))]
    assert texts == [("10", "8 – 12.5", "9"), ("10", "—", "9")]
    assert "1 of 1 inside their 80 % interval" in summary(data)
    lines = [row_details(row, LatencyUnit.MS) for row in data.rows]
    assert "80 % interval: 8 – 12.5 ms" in lines[0]
    assert "80 % interval" not in lines[1]
    assert ",8 – 12.5,9," in PastGrid(data, LatencyUnit.MS).as_csv([0])


def test_a_copy_has_each_setting_in_a_column_of_its_own(data: PastRows) -> None:
    header, first, *_ = PastGrid(data, LatencyUnit.MS).as_csv([0]).splitlines()

    assert header.startswith("Model,Predicted (ms),Device,Configuration,")
    assert header.endswith("Runtime,Precision,Threads,Batch")
    assert first.endswith("ncnn,fp16,4,2")
