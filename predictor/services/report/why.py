"""Pictures of one prediction: its roofline, where its time goes, and what would change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from predictor.core.text import capitalised, plural
from predictor.presentation import report
from predictor.presentation.wording import batch_of, number, percent, shown
from predictor.services.prediction.explain import OperatorTable
from predictor.services.prediction.roofline import BOUND, MEASURED, Roof, roofline_of
from predictor.services.prediction.sensitivity import Sensitivity, change_words
from predictor.services.report.operators import (
    Explained,
    fastest_per_model,
    pair_heading,
    slowest,
    time_sentence,
)
from predictor.services.report.request import ReportRequest

BOUNDS = ("compute", "memory", "launch")
_POINTS = 300
_TYPES = 5
_FACTS = 3
_BATCH = "batch"  # kind of an alternative
_MIN_CHANGE = 1e-3  # of the latency
_ROOFLINE_NOTE = (
    "Each mark is an operator, as large as its share of the time; those that multiply nothing are "
    "not shown. On a roof it reaches that rate; a dashed one was measured."
)


def why_section(request: ReportRequest, explained: Sequence[Explained]) -> report.Section:
    """Return the pictures of the chosen pair, else of the model that takes longest, on its fastest.

    Of each other model a sentence states the same on its fastest target.
    """

    def rank(one: Explained) -> tuple[bool, float]:
        return request.is_chosen(one.pair), one.pair.prediction.latency_ms or 0.0

    order = sorted(fastest_per_model(explained), key=rank, reverse=True)
    blocks = [*_pictures(order[0], request), *_other_models(order[1:], request)] if order else []
    return report.Section(
        report.SectionId.WHY, "Where the time goes, and what would change it", tuple(blocks)
    )


def _pictures(one: Explained, request: ReportRequest) -> Iterator[report.Block]:
    yield pair_heading(one.pair, request)
    yield report.Paragraph(time_sentence(one.table, slowest(one.table, request.operators)))
    roofline = roofline_chart(one)
    if roofline.points:
        yield roofline
    yield _types(one.table)
    if one.sensitivity and one.sensitivity.sentence:
        yield report.Heading("What would change it", "one thing at a time, the rest as it is")
        yield _changes(one, one.sensitivity, request.budget_ms)
        if any(alternative.kind == _BATCH for alternative in one.sensitivity.alternatives):
            yield _rates(one, one.sensitivity)


def _other_models(further: Sequence[Explained], request: ReportRequest) -> Iterator[report.Block]:
    for one in further:
        table, changes = one.table, one.sensitivity.sentence if one.sensitivity else ""
        yield pair_heading(one.pair, request)
        change = f" {changes}" if changes else ""
        yield report.Paragraph(time_sentence(table, slowest(table, request.operators)) + change)


def roofline_chart(one: Explained) -> report.RooflineChart:
    """Return the roofs of a pair's target, and its slowest operators that multiply."""
    table = one.table
    roofline = roofline_of(one.pair.model.model, one.pair.target, table)
    with np.errstate(invalid="ignore"):
        is_placed = (roofline.intensity > 0) & (roofline.flops_per_s > 0)
    places = [place for place in slowest(table, len(table.names)) if is_placed[place]]
    return report.RooflineChart(
        series=tuple(f"bound by {kind}" for kind in BOUNDS),
        roofs=tuple(
            report.RoofMark(
                _roof_name(roof), roof.rate, roof.is_memory, roof.origin == MEASURED, roof.counted
            )
            for roof in roofline.roofs
            # No operator is held by the bound: the prediction divides work by the others.
            if roof.origin != BOUND
        ),
        points=tuple(
            report.RooflinePoint(
                float(roofline.intensity[place]),
                float(roofline.flops_per_s[place]),
                float(table.share[place]),
                BOUNDS.index(table.bound_type[place]),
            )
            for place in places[:_POINTS]
        ),
        operation=roofline.operation,
        note=_ROOFLINE_NOTE,
    )


def _roof_name(roof: Roof) -> str:
    return shown(f"{roof.label}, measured" if roof.origin == MEASURED else roof.label)


def _types(table: OperatorTable) -> report.BarChart:
    """Return the time of the types of operators that take most of it."""
    of_type: dict[str, list[int]] = {}
    for place, name in enumerate(table.op_types):
        if table.latency_ms[place] > 0:
            of_type.setdefault(name, []).append(place)
    ordered = sorted(of_type, key=lambda name: -float(table.latency_ms[of_type[name]].sum()))
    bars = []
    for name in ordered[:_TYPES]:
        places = of_type[name]
        bound = np.array([table.bound_type[place] for place in places])
        times = table.latency_ms[places]
        main_bound = max(BOUNDS, key=lambda kind: float(times[bound == kind].sum()))
        text = f"{number(float(times.sum()))} ms, {percent(float(table.share[places].sum()))}"
        detail = f"{plural(len(places), 'operator')}, most by {main_bound}"
        bars.append(
            report.Bar(
                label=shown(name), detail=detail, series=0, value=float(times.sum()), text=text
            )
        )
    more = len(ordered) - _TYPES
    note = f"{plural(more, 'more type')} take the rest." if more > 0 else ""
    return report.BarChart(
        axis="Time by type of operator, ms", series=("",), bars=tuple(bars), note=note
    )


def _changes(one: Explained, sensitivity: Sensitivity, budget_ms: float | None) -> report.BarChart:
    """Return the latency now and after each change alone, for one inference."""
    prediction = one.pair.prediction
    now_ms = (prediction.latency_ms or 0.0) / batch_of(prediction.configuration)
    budget = None if budget_ms is None else budget_ms / batch_of(prediction.configuration)
    changes = [(f"{fact.label} +10 %", fact.more) for fact in sensitivity.facts[:_FACTS]]
    # A tenth of a percent is no advice.
    changes = [(words, factor) for words, factor in changes if abs(factor - 1) > _MIN_CHANGE]
    changes += [
        (capitalised(alternative.words), 1 / alternative.throughput_factor)
        for alternative in sensitivity.alternatives
        if alternative.kind != _BATCH  # a call of it takes longer
    ]
    bars = [
        report.Bar(
            label="As it is",
            detail="",
            series=0,
            value=now_ms,
            text=f"{number(now_ms)} ms",
            over=_is_over(now_ms, budget),
        )
    ]
    bars += [_changed(words, factor, now_ms, budget) for words, factor in changes]
    longest = max(bar.value or 0.0 for bar in bars)
    line = budget if budget is not None and budget <= report.BUDGET_REACH * longest else None
    words = "" if line is None else f"budget {number(line)} ms"
    return report.BarChart(
        axis="ms for one inference", series=("",), bars=tuple(bars), budget=line, budget_text=words
    )


def _rates(one: Explained, sensitivity: Sensitivity) -> report.BarChart:
    """Return the items a second now and in larger batches."""
    prediction = one.pair.prediction
    now = 1000.0 * batch_of(prediction.configuration) / (prediction.latency_ms or 1.0)
    rates = [("As it is", 1.0, prediction.latency_ms)] + [
        (capitalised(alternative.words), alternative.throughput_factor, alternative.latency_ms)
        for alternative in sensitivity.alternatives
        if alternative.kind == _BATCH
    ]
    bars = []
    for words, factor, call_ms in rates:
        text = f"{number(now * factor)} a second, {number(call_ms)} ms a call"
        bars.append(report.Bar(label=words, detail="", series=0, value=now * factor, text=text))
    return report.BarChart(axis="Items a second", series=("",), bars=tuple(bars))


def _changed(words: str, factor: float, now_ms: float, budget: float | None) -> report.Bar:
    value = now_ms * factor
    text = f"{number(value)} ms, {change_words(factor)}"
    return report.Bar(
        label=words, detail="", series=0, value=value, text=text, over=_is_over(value, budget)
    )


def _is_over(value: float, budget: float | None) -> bool:
    return budget is not None and value > budget
