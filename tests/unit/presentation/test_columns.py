"""The registry of columns and remarks: what each place shows, in the same words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Precision
from predictor.core.units import LatencyUnit
from predictor.presentation.columns import COLUMN_BY_ID, COLUMNS, columns_of
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext
from predictor.presentation.remarks import remarks
from predictor.presentation.report import Tone

TABLES = (Place.COMPARE, Place.HISTORY, Place.TEXT, Place.REPORT)
PREDICTION = Prediction(
    model="net.onnx",
    fingerprint="0" * 64,
    device_id="rpi5",
    configuration=Configuration("ncnn", Precision.FP16, 4, 8),
    engine="closertome/1",
    basis=Basis.PROBED,
    latency_ms=40.0,
    low80_ms=30.0,
    high80_ms=60.0,
)


def row(**facts: object) -> PredictionRow:
    prediction = replace(PREDICTION, **facts)  # type: ignore[arg-type]
    return PredictionRow(
        prediction=prediction,
        device_name="Raspberry\u202e Pi",
        model_label="net.onnx",
        notes=("It assumes much.",),
    )


def cells(shown: PredictionRow, context: TableContext) -> dict[str, str]:
    return {c.id: c.text(shown, context) for c in columns_of(context.place)}


def needed(shown: PredictionRow, context: TableContext) -> set[str]:
    return {c.id for c in columns_of(context.place) if c.is_needed([shown], context)}


def test_every_column_has_an_id_of_its_own_and_a_place() -> None:
    assert len({column.id for column in COLUMNS}) == len(COLUMNS)
    assert all(column.titles for column in COLUMNS)


@pytest.mark.parametrize("place", TABLES)
@pytest.mark.parametrize("unit", list(LatencyUnit))
def test_no_place_shows_two_columns_of_one_title(place: Place, unit: LatencyUnit) -> None:
    context = TableContext(place, unit, 30.0)
    titles = [column.title(context) for column in columns_of(place)]

    assert len(set(titles)) == len(titles)
    assert len(set(titles)) == len(titles)
    assert not any("{" in title for title in titles)


def test_places_say_the_same_of_one_prediction() -> None:
    shown = row()
    tables = [cells(shown, TableContext(place, budget_ms=30.0)) for place in TABLES]

    for name in {column.id for column in COLUMNS} - {"remarks"}:
        assert len({table[name] for table in tables if name in table}) == 1, name


def test_names_are_escaped_and_numbers_stand_behind_figures() -> None:
    context = TableContext(Place.COMPARE, LatencyUnit.FPS)
    columns = {column.id: column for column in columns_of(Place.COMPARE)}

    assert columns["device"].text(row(), context) == "Raspberry\\u202e Pi"
    latency, other = columns["latency"], columns["fps"]
    assert latency.value is not None
    assert latency.value(row(), context) == 200.0
    assert (latency.title(context), latency.text(row(), context)) == ("FPS", "200")
    assert (other.title(context), other.text(row(), context)) == ("Latency (ms)", "40")


def test_printed_tables_leave_out_what_has_nothing_to_say() -> None:
    plain = row(low80_ms=None, high80_ms=None)
    report, text = TableContext(Place.REPORT), TableContext(Place.TEXT)

    assert needed(plain, report).isdisjoint({"interval80", "verdict", "likely"})
    assert {"interval80", "likely"} <= needed(row(), replace(report, budget_ms=30.0))
    assert "fps" not in needed(row(), replace(report, unit=LatencyUnit.FPS))
    assert "interval80" not in needed(plain, text)
    assert "fps" in needed(plain, TableContext(Place.COMPARE, LatencyUnit.FPS))


def test_an_unknown_runtime_is_a_dash_in_printed_text() -> None:
    unknown = row(configuration=Configuration())

    assert cells(unknown, TableContext(Place.TEXT))["runtime"] == "—"
    assert cells(unknown, TableContext(Place.COMPARE))["runtime"] == "unknown"


def test_tones_follow_the_budget_and_the_memory() -> None:
    columns = {column.id: column for column in COLUMNS}
    context = TableContext(Place.COMPARE, budget_ms=30.0)

    def tone(name: str, shown: PredictionRow) -> Tone:
        return columns[name].tone(shown, context)

    assert tone("verdict", row()) is Tone.WARN
    assert tone("verdict", row(low80_ms=35.0)) is Tone.BAD
    assert tone("verdict", row(latency_ms=None)) is Tone.MUTED
    assert tone("memory", row(fits_memory=False)) is Tone.BAD
    assert tone("latency", row()) is Tone.PLAIN


def test_a_remark_has_the_same_words_wherever_it_stands() -> None:
    shown = row(out_of_distribution="wide layers", fits_memory=False, flagged_operators=("a",))
    doubt, flagged = "uncertain: wide layers", "a lower limit: 1 operator not counted in full"
    memory = "does not fit in the device's memory"

    said = {place: remarks(shown, TableContext(place)) for place in Place}
    assert said[Place.COMPARE] == ["It assumes much.", doubt, flagged]
    assert said[Place.DETAILS] == [doubt]
    # Scripts read the command line's words.
    assert said[Place.TEXT] == ["wide layers", "adapted by posterior", memory, flagged]
    assert said[Place.REPORT] == [doubt, memory, flagged]
    assert said[Place.HISTORY] == []


def test_a_row_without_a_number_says_why_and_doubts_nothing() -> None:
    shown = row(
        latency_ms=None,
        problem="it does not fit: 2 KiB too many",
        out_of_distribution="wide layers",
        fits_memory=False,
    )
    problem = "no number: it does not fit: 2 KiB too many"

    said = {place: remarks(shown, TableContext(place)) for place in Place}
    assert said[Place.COMPARE] == [problem, "It assumes much."]
    assert said[Place.DETAILS] == said[Place.REPORT] == [problem]
    assert said[Place.TEXT] == ["it does not fit: 2 KiB too many"]


def test_a_lower_limit_says_so_and_sorts_behind_every_number() -> None:
    limit = row(
        latency_ms=2.0, low80_ms=1.0, high80_ms=4.0, flagged_operators=("a",), basis=Basis.ANALYTIC
    )
    in_ms = TableContext(Place.COMPARE, budget_ms=30.0)
    in_fps = TableContext(Place.COMPARE, LatencyUnit.FPS)
    latency, interval = COLUMN_BY_ID["latency"], COLUMN_BY_ID["interval80"]
    assert [latency.text(limit, in_ms), latency.text(limit, in_fps)] == ["≥ 2", "≤ 4000"]
    assert interval.text(limit, in_ms) == "—"
    assert COLUMN_BY_ID["verdict"].text(limit, in_ms) == "not known"
    assert COLUMN_BY_ID["fps"].text(limit, in_ms) == "≤ 4000"
    assert latency.sort_key is not None
    assert latency.sort_key(limit, in_ms) is None, "as a row without a number, last either way"
    assert "a lower limit: 1 operator not counted in full" in remarks(limit, in_ms)
    assert "may be over 30 ms" in remarks(limit, TableContext(Place.TEXT, budget_ms=30.0))
    assert "over 1 ms" in remarks(limit, TableContext(Place.TEXT, budget_ms=1.0))

    measured = row(latency_ms=2.0, flagged_operators=("a",), basis=Basis.MEASURED)
    assert latency.text(measured, in_ms) == "2"
    assert latency.sort_key(measured, in_ms) == 2.0


def test_runtime_and_precision_stand_beside_the_latency() -> None:
    first = [column.id for column in columns_of(Place.COMPARE)][:8]
    assert first[:4] == ["model", "latency", "tokens", "first"]  # a row has one or the other
    assert first[4:] == ["device", "runtime", "precision", "interval80"]


def test_a_measured_latency_says_who_measured_and_what_the_engine_says() -> None:
    shown = row(basis=Basis.MEASURED, provenance="you", predicted_ms=10.0)

    assert remarks(shown, TableContext(Place.REPORT, LatencyUnit.FPS)) == [
        "measured: you",
        "the engine alone predicts 800 FPS",
    ]


@pytest.mark.parametrize(("low80_ms", "ends"), [(30.0, True), (30.1, False)])
def test_an_interval_that_ends_at_the_bound_says_so(low80_ms: float, ends: bool) -> None:
    shown = row(low80_ms=low80_ms, bound_ms=30.0)

    said = "the interval ends at the bound" in remarks(shown, TableContext(Place.COMPARE))

    assert said == ends


def test_a_long_doubt_is_whole_and_an_endless_one_is_cut() -> None:
    doubt = "; ".join(["it is unlike anything that was learned from"] * 9)
    context = TableContext(Place.TEXT)

    assert remarks(row(basis=None, out_of_distribution=doubt), context) == [doubt]
    (cut,) = remarks(row(basis=None, out_of_distribution="x" * 10**6), context)
    assert len(cut) < 1100
    assert "…" in cut
