"""The comparison: a chart and a table of every model on every target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from predictor.core.records import Basis, Prediction
from predictor.core.report import (
    Bar,
    BarChart,
    Block,
    Cell,
    Column,
    Heading,
    Row,
    Section,
    SectionId,
    Table,
)
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.core.verdict import is_over, verdict, verdict_text
from predictor.core.wording import (
    NOTHING,
    basis_text,
    batch_of,
    configuration_text,
    in_unit,
    interval_in_unit,
    interval_text,
    number,
    shown,
)
from predictor.services.prediction.predict import budget_probability
from predictor.services.report.request import Pair, ReportRequest
from predictor.services.report.words import TONES, figures, latency, likelihood, text, words

# On a linear axis, bars shorter than a fiftieth of the longest are hardly seen.
_LINEAR_SPAN = 50.0
_BUDGET_REACH = 3.0
_P50 = "Each bar is the P50."
_WHISKERS = "Its thick whisker is the 80 % interval, its thin one the 95 % interval."
_BOUND = "The tick is the bound, which no run can beat."
_OVER = "A pale bar is over the budget."


def comparison_section(request: ReportRequest) -> Section:
    """Return the chart of all pairs, and a table a model."""
    blocks: list[Block] = [_chart(request)]
    for model in request.models:
        pairs = request.pairs_of(model)
        batches = sorted({batch_of(pair.prediction.configuration) for pair in pairs})
        batch = f"batch {', '.join(map(str, batches))}"
        blocks.append(Heading(shown(model.label), f"{plural(len(pairs), 'target')}, {batch}"))
        blocks.append(_table(pairs, request))
    return Section(SectionId.COMPARISON, "Comparison", tuple(blocks))


@dataclass(frozen=True, slots=True)
class _Shown:
    """Which columns the tables have: intervals and the budget only where there are any."""

    interval80: bool
    interval95: bool
    budget: bool
    likely: bool


def _table(pairs: Sequence[Pair], request: ReportRequest) -> Table:
    every = [pair.prediction for pair in request.pairs()]
    has_interval = any(prediction.low80_ms is not None for prediction in every)
    parts = _Shown(
        interval80=has_interval,
        interval95=any(prediction.low95_ms is not None for prediction in every),
        budget=request.budget_ms is not None,
        likely=request.budget_ms is not None and has_interval,
    )
    rows = tuple(
        Row(tuple(_cells(pair, request, parts)), _remarks(pair.prediction)) for pair in pairs
    )
    return Table(tuple(_columns(request, parts)), rows)


def _columns(request: ReportRequest, parts: _Shown) -> Iterator[Column]:
    unit = request.unit
    yield words("target", "Target")
    yield words("configuration", "Configuration")
    yield figures("latency", f"P50 {unit}")
    if parts.interval80:
        yield figures("interval80", f"80 % interval {unit}")
    if parts.interval95:
        yield figures("interval95", f"95 % interval {unit}")
    if unit is not LatencyUnit.FPS:
        yield figures("fps", "FPS")
    yield figures("bound", f"Bound {unit}")
    yield words("basis", "Basis")
    if parts.budget:
        yield words("verdict", f"Budget {number(request.budget_ms)} ms")
    if parts.likely:
        yield figures("likely", "Likely met")


def _cells(pair: Pair, request: ReportRequest, parts: _Shown) -> Iterator[Cell]:
    prediction, unit = pair.prediction, request.unit
    yield text(shown(pair.target.device.name))
    yield text(configuration_text(prediction.configuration))
    yield latency(prediction.latency_ms, unit, prediction)
    if parts.interval80:
        yield text(interval_text(prediction, unit))
    if parts.interval95:
        yield text(interval_text(prediction, unit, 95))
    if unit is not LatencyUnit.FPS:
        yield latency(prediction.latency_ms, LatencyUnit.FPS, prediction)
    yield latency(prediction.bound_ms, unit, prediction)
    yield text(basis_text(prediction))
    if parts.budget:
        tone = TONES[verdict(prediction, request.budget_ms)]
        yield text(verdict_text(prediction, request.budget_ms), tone)
    if parts.likely:
        likely = budget_probability(prediction, request.budget_ms or 0.0)
        yield Cell(NOTHING if likely is None else likelihood(likely), likely)


def _remarks(prediction: Prediction) -> str:
    """Say what the figures do not: a problem, the memory, what the engine does not know."""
    remarks = []
    if prediction.problem:
        remarks.append(f"No number: {shown(prediction.problem)}")
    if prediction.provenance:
        remarks.append(f"Measured: {shown(prediction.provenance)}")
    if prediction.basis is Basis.MEASURED and prediction.predicted_ms is not None:
        remarks.append(f"The engine alone predicts {number(prediction.predicted_ms)} ms")
    if prediction.out_of_distribution:
        remarks.append(f"Uncertain: {shown(prediction.out_of_distribution)}")
    if prediction.fits_memory is False:
        remarks.append("Does not fit in the device's memory")
    return ". ".join(remarks)


def _chart(request: ReportRequest) -> BarChart:
    """Place the targets with their fastest model first, and each target's bars by model."""
    unit = request.unit
    pairs = list(request.pairs())
    per_model = len(request.targets)
    by_target = [pairs[place::per_model] for place in range(per_model)]
    by_target.sort(key=_fastest)
    bars = tuple(
        _bar(pair, series, request) for group in by_target for series, pair in enumerate(group)
    )
    title = "Frames per second" if unit is LatencyUnit.FPS else f"Latency ({unit})"
    budget = _budget(pairs, request, bars)
    return BarChart(
        axis=title,
        series=tuple(shown(model.label) for model in request.models),
        bars=bars,
        logarithmic=_spans_decades(bars),
        budget=budget,
        budget_text="" if budget is None else f"budget {number(request.budget_ms)} ms",
        note=_note(bars),
    )


def _note(bars: Sequence[Bar]) -> str:
    """Say how to read what the chart has."""
    parts = (
        (_P50, True),
        (_WHISKERS, any(bar.low80 is not None for bar in bars)),
        (_BOUND, any(bar.bound is not None for bar in bars)),
        (_OVER, any(bar.over for bar in bars)),
    )
    return " ".join(sentence for sentence, is_there in parts if is_there)


def _fastest(group: Sequence[Pair]) -> float:
    known = [p.prediction.latency_ms for p in group if p.prediction.latency_ms is not None]
    return min(known, default=math.inf)


def _bar(pair: Pair, series: int, request: ReportRequest) -> Bar:
    prediction, unit = pair.prediction, request.unit
    batch = batch_of(prediction.configuration)
    value = in_unit(prediction.latency_ms, unit, batch)
    low80, high80 = interval_in_unit(prediction, unit)
    low95, high95 = interval_in_unit(prediction, unit, 95)
    over = is_over(prediction, request.budget_ms)
    words_of_bar = f"{number(value)} {unit}" + (" · over" if over else "")
    return Bar(
        label=shown(pair.target.device.name),
        detail=configuration_text(prediction.configuration),
        series=series,
        value=value,
        text=f"no number: {shown(prediction.problem)}" if value is None else words_of_bar,
        over=over,
        low80=low80,
        high80=high80,
        low95=low95,
        high95=high95,
        bound=in_unit(prediction.bound_ms, unit, batch),
    )


def _budget(pairs: Sequence[Pair], request: ReportRequest, bars: Sequence[Bar]) -> float | None:
    """Return where the budget's line stands; None where one line cannot stand for all bars.

    Nor is there one far beyond the longest bar, where it would squeeze them all.
    """
    batches = {batch_of(pair.prediction.configuration) for pair in pairs}
    if request.budget_ms is None or (request.unit is LatencyUnit.FPS and len(batches) > 1):
        return None
    budget = in_unit(request.budget_ms, request.unit, min(batches))
    longest = max((bar.value for bar in bars if bar.value is not None), default=0.0)
    return budget if budget is not None and budget <= _BUDGET_REACH * longest else None


def _spans_decades(bars: Sequence[Bar]) -> bool:
    """Whether the shortest bar would be hardly seen beside the farthest end of an interval."""
    known = [bar.value for bar in bars if bar.value]
    ends = [end for bar in bars for end in (bar.value, bar.high80, bar.high95) if end]
    return bool(known) and max(ends) > _LINEAR_SPAN * min(known)
