"""The comparison: a table of every model on every target, and the chart of the fastest ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from predictor.core.records import Basis
from predictor.core.text import capitalised, plural
from predictor.core.units import LatencyUnit
from predictor.presentation import report, wording
from predictor.presentation.columns import PredictionColumn, axis_title, columns_of
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext
from predictor.presentation.remarks import no_number, remarks
from predictor.presentation.verdict import is_over
from predictor.services.prediction.assumptions import needs_quantising
from predictor.services.prediction.fastest import rank
from predictor.services.report.request import Pair, ReportRequest
from predictor.services.report.words import latency_words

# So that the chart stands on the first page, under the answer.
_CHARTED_BARS, _CHARTED_TARGETS = 18, 10
_P50, _DOT = "Each bar is the P50.", "Each dot is the P50."
_WHISKERS = "Its thick whisker is the 80 % interval, its thin one the 95 % interval."
_BOUND = "The tick is the bound, which no run can beat."
_OVER = "A pale one is over the budget."
_LIMIT = (
    "An arrow stands for a limit: the time of operators of unknown cost is missing from its number."
)
_LIMITS = {"≥": report.Limit.LOWER, "≤": report.Limit.UPPER}
_BASIS_SENTENCES: dict[Basis, str] = {
    Basis.MEASURED: "Measured: this very model was measured on this target.",
    Basis.PROBED: "Calibrated: predicted from other networks that were measured on this target.",
    Basis.ZERO_SHOT: (
        "From specs: predicted from the device's facts and from measurements of hardware or "
        "configurations near it, where there are any."
    ),
    Basis.ANALYTIC: (
        "Analytic: the time at the device's peak rates, operator by operator. Real runs are "
        "usually slower, often by a factor of 1 to 4. It ranks targets and shows what limits "
        "them; it does not promise a latency."
    ),
}


def comparison_section(request: ReportRequest) -> report.Section:
    """Return a table a model, and how sure its numbers are."""
    blocks: list[report.Block] = []
    origins = _common_origins(request)
    for model in request.models:
        pairs = request.pairs_of(model)
        batches = sorted({wording.batch_of(pair.prediction.configuration) for pair in pairs})
        batch = f"batch {', '.join(map(str, batches))}"
        blocks.append(
            report.Heading(wording.shown(model.label), f"{plural(len(pairs), 'target')}, {batch}")
        )
        blocks.append(_table(pairs, request, origins))
    if origins:
        facts = tuple((target, report.Cell(origin)) for target, origin in origins.items())
        blocks += [report.Heading("Where the numbers come from"), report.Facts(facts)]
    blocks += [report.Heading("How sure this is"), report.Bullets(tuple(_sureness(request)))]
    return report.Section(report.SectionId.COMPARISON, "Comparison", tuple(blocks))


def _common_origins(request: ReportRequest) -> dict[str, str]:
    """Return by target what the predictions of all models rest on, and what they are slower than.

    A target whose models differ, or a report of one model, has it in its rows.
    """
    if len(request.models) == 1:
        return {}
    origins: dict[str, set[str]] = {}
    for pair in request.pairs():
        prediction = pair.prediction
        # A number that was measured itself has a remark of its own.
        if prediction.basis is not Basis.MEASURED:
            origin = "; ".join(filter(None, (prediction.evidence, prediction.slower)))
            origins.setdefault(request.target_name(pair.target), set()).add(origin)
    common = {target: texts.pop() for target, texts in origins.items() if len(texts) == 1}
    return {
        target: capitalised(wording.shown(origin)) for target, origin in common.items() if origin
    }


def _table(pairs: Sequence[Pair], request: ReportRequest, origins: Collection[str]) -> report.Table:
    """Return a row a pair in the registry's columns; empty ones are left out.

    Args:
        pairs: one a row.
        request: the report's.
        origins: targets whose measurements stand elsewhere in the report.
    """
    context = TableContext(Place.REPORT, request.unit, request.budget_ms)
    # Over all models, so that the tables of one report have the same columns.
    all_rows = [_row_of(pair) for pair in request.pairs()]
    columns = [c for c in columns_of(Place.REPORT) if c.is_needed(all_rows, context)]
    rows = [_row_of(p, without_evidence=request.target_name(p.target) in origins) for p in pairs]
    return report.Table(
        tuple(report.Column(c.id, c.title(context), c.is_number) for c in columns),
        tuple(_row(row, columns, context) for row in rows),
    )


def _row_of(pair: Pair, *, without_evidence: bool = False) -> PredictionRow:
    prediction = pair.prediction
    if without_evidence:
        prediction = replace(prediction, evidence="", slower="")
    return PredictionRow(
        prediction=prediction, device_name=pair.target.device.name, model_label=pair.model.label
    )


def _row(
    row: PredictionRow, columns: Sequence[PredictionColumn], context: TableContext
) -> report.Row:
    cells = (
        report.Cell(c.text(row, context), c.value and c.value(row, context), c.tone(row, context))
        for c in columns
    )
    return report.Row(tuple(cells), ". ".join(map(capitalised, remarks(row, context))))


def latency_chart(request: ReportRequest) -> report.BarChart:
    """Return a chart of the fastest targets, each with a bar a model."""
    unit = request.unit
    pairs = list(request.pairs())
    per_model = len(request.targets)
    # Pairs are ordered by model: every T-th one is of the same target.
    by_target = [pairs[place::per_model] for place in range(per_model)]
    by_target.sort(key=lambda group: min(rank(pair.prediction) for pair in group))
    has_rates = unit is not LatencyUnit.FPS and has_several_batches(pairs)
    charted = max(min(_CHARTED_BARS // len(request.models), _CHARTED_TARGETS), 1)
    more = per_model - charted
    bars = tuple(
        _bar(pair, series, request, has_rate=has_rates)
        for group in by_target[:charted]
        for series, pair in enumerate(group)
    )
    budget = _budget(pairs, request, bars)
    return report.BarChart(
        axis=axis_title(unit),
        series=tuple(wording.shown(model.label) for model in request.models),
        bars=bars,
        logarithmic=_spans_decades(bars),
        budget=budget,
        budget_text="" if budget is None else f"budget {wording.number(request.budget_ms)} ms",
        note=_note(bars, logarithmic=_spans_decades(bars))
        + (f" The other {plural(more, 'target')} stand in the tables." if more > 0 else ""),
    )


def _note(bars: Sequence[report.Bar], *, logarithmic: bool) -> str:
    """Return the legend of the chart in words."""
    parts = (
        (_DOT if logarithmic else _P50, True),
        (_WHISKERS, any(bar.low80 is not None for bar in bars)),
        (_BOUND, any(bar.bound is not None for bar in bars)),
        (_OVER, any(bar.over for bar in bars)),
        (_LIMIT, any(bar.limit is not report.Limit.NONE for bar in bars)),
    )
    return " ".join(sentence for sentence, is_there in parts if is_there)


def has_several_batches(pairs: Sequence[Pair]) -> bool:
    """Whether calls of different batches stand side by side: their times are not alike."""
    return len({wording.batch_of(pair.prediction.configuration) for pair in pairs}) > 1


def _bar(pair: Pair, series: int, request: ReportRequest, *, has_rate: bool) -> report.Bar:
    prediction, unit = pair.prediction, request.unit
    batch = wording.batch_of(prediction.configuration)
    value = wording.in_unit(prediction.latency_ms, unit, batch)
    low80, high80 = wording.interval_in_unit(prediction, unit)
    low95, high95 = wording.interval_in_unit(prediction, unit, 95)
    over = is_over(prediction, request.budget_ms)
    rate = f" · {latency_words(prediction, LatencyUnit.FPS)}" if has_rate else ""
    words_of_bar = f"{latency_words(prediction, unit)}{rate}" + (" · over" if over else "")
    if needs_quantising(pair.model.model, prediction):
        words_of_bar += f" · {wording.QUANTISED}"
    return report.Bar(
        label=wording.shown(pair.target.device.name),
        detail=wording.configuration_text(prediction.configuration),
        is_configuration=True,
        series=series,
        value=value,
        text=no_number(prediction) if value is None else words_of_bar,
        over=over,
        low80=low80,
        high80=high80,
        low95=low95,
        high95=high95,
        bound=wording.in_unit(prediction.bound_ms, unit, batch),
        limit=_LIMITS.get(wording.limit_sign(prediction, unit)[:1], report.Limit.NONE),
    )


def _budget(
    pairs: Sequence[Pair], request: ReportRequest, bars: Sequence[report.Bar]
) -> float | None:
    """Return the place of the budget's line; None where one line cannot stand for all bars.

    Nor is there one far beyond the longest bar, where it would squeeze them all.
    """
    is_rate = request.unit is LatencyUnit.FPS
    if request.budget_ms is None or (is_rate and has_several_batches(pairs)):
        return None
    budget = wording.in_unit(
        request.budget_ms, request.unit, wording.batch_of(pairs[0].prediction.configuration)
    )
    longest = max((bar.value for bar in bars if bar.value is not None), default=0.0)
    return budget if budget is not None and budget <= report.BUDGET_REACH * longest else None


def _spans_decades(bars: Sequence[report.Bar]) -> bool:
    """Whether the shortest bar would be hardly seen beside the farthest end of an interval."""
    lengths = [bar.value for bar in bars if bar.value]
    ends = [end for bar in bars for end in (bar.value, bar.high80, bar.high95) if end]
    return bool(lengths) and max(ends) > report.LINEAR_SPAN * min(lengths)


def _sureness(request: ReportRequest) -> Iterator[report.Cell]:
    """Yield sentences on the basis of the numbers and the width of their intervals."""
    pairs = list(request.pairs())
    for basis, sentence in _BASIS_SENTENCES.items():
        of_basis = [pair for pair in pairs if pair.prediction.basis is basis]
        if of_basis:
            yield report.Cell(f"{plural(len(of_basis), 'number')}. {sentence}")
    widest = max(pairs, key=_spread)
    if _spread(widest) > 0:
        yield report.Cell(
            "The 80 % interval is meant to hold the real latency in 8 of 10 cases, the 95 % one in "
            f"19 of 20. The widest here: {request.target_name(widest.target)}, "
            f"{wording.interval_text(widest.prediction, request.unit)} {request.unit}."
        )
    elif any(pair.prediction.latency_ms is not None for pair in pairs):
        yield report.Cell("This engine gives no interval.")


def _spread(pair: Pair) -> float:
    """Return the high end of the 80 % interval over its low end; 0 without one."""
    low, high = wording.interval_ms(pair.prediction)
    if not low or high is None:
        return 0.0
    return high / low
