"""The answer: what meets the budget, how certainly, what to measure, what would change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from predictor.core.prediction import Prediction
from predictor.core.records import Basis
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.presentation import report, wording
from predictor.presentation.verdict import (
    VERDICT_TONES,
    budget_probability,
    is_over,
    likelihood,
    meets,
    verdict,
)
from predictor.services.prediction.assumptions import needs_quantising
from predictor.services.prediction.fastest import is_rankable
from predictor.services.report.comparison import has_several_batches, latency_chart
from predictor.services.report.operators import Explained, fastest_per_model
from predictor.services.report.request import Pair, ReportedModel, ReportRequest, leading
from predictor.services.report.settings import assumed
from predictor.services.report.words import brief, by_sentence, joined, latency_words

_MODELS_NAMED = 12
_TARGETS_NAMED = 3
# Probabilities between these do not answer whether a budget is met.
_UNSURE = (0.1, 0.9)
_INT8 = (
    "INT8 stands for a quantised model that is still to be made: its results differ, and how far "
    "is not predicted here."
)
_MEASURE_IT = "measure it there to be sure"
_WARNINGS: tuple[tuple[str, Callable[[Prediction], bool]], ...] = (
    ("Does not fit in the memory of {}.", lambda p: p.fits_memory is False),
    ("Outside the training range: {}.", lambda p: bool(p.out_of_distribution)),
    ("No number: {}; the comparison says why.", lambda p: p.latency_ms is None),
)


def summary_section(request: ReportRequest, explained: Sequence[Explained]) -> report.Section:
    """Return an answer a model, advice, and a chart of the latencies."""
    models = request.models[:_MODELS_NAMED]
    more = len(request.models) - len(models)
    answers = [_answer(model, request.pairs_of(model), request) for model in models]
    advice = tuple(dict.fromkeys(_advice(request, explained)))
    blocks: list[report.Block] = [report.Bullets(tuple(answers))]
    if more > 0:
        blocks.append(report.Paragraph(f"{plural(more, 'more model')} stand in the comparison."))
    if advice:
        blocks += [report.Heading("What would change it, and what to heed"), report.Bullets(advice)]
    blocks.append(latency_chart(request))
    return report.Section(report.SectionId.SUMMARY, "Answer", tuple(blocks))


def _answer(model: ReportedModel, pairs: Sequence[Pair], request: ReportRequest) -> report.Cell:
    """Return the sentence of a model: what meets the budget, how sure, what to measure."""
    name, targets = brief(model.label), plural(len(pairs), "target")
    numbers = [pair for pair in pairs if pair.prediction.latency_ms is not None]
    if not numbers:
        return report.Cell(f"{name} has no number on any of {targets}.", tone=report.Tone.WARN)
    fastest = leading(numbers)
    if fastest.prediction.is_lower_limit:
        lowest = _named([fastest], request)
        limit = f"{name} has lower limits only: at least that of {lowest}"
        return report.Cell(
            f"{limit}; operators of unknown cost are not in it.", tone=report.Tone.WARN
        )
    if request.budget_ms is None:
        sure = f"; {_MEASURE_IT}" if fastest.prediction.basis is not Basis.MEASURED else ""
        best_rate = _best_rate(numbers, request)
        if best_rate:
            runs = f"has its shortest call on {targets} on"
        else:
            is_fastest = len(pairs) > 1 and is_rankable(fastest.prediction)
            runs = f"is fastest of {targets} on" if is_fastest else "is predicted on"
        less = _less(fastest, numbers, request)
        return report.Cell(f"{name} {runs} {_named([fastest], request)}{less}{sure}{best_rate}.")
    within = [p for p in numbers if meets(p.prediction, request.budget_ms)]
    named = min(len(within) or 1, _TARGETS_NAMED)
    sentence = (
        f"{name} {_met(len(within), pairs, request.budget_ms)}"
        f"{_named(within or [fastest], request)}"
        f"{_doubt(numbers, named, request, request.budget_ms)}{_best_rate(within, request)}."
    )
    return report.Cell(sentence, tone=VERDICT_TONES[verdict(fastest.prediction, request.budget_ms)])


def _less(fastest: Pair, numbers: Sequence[Pair], request: ReportRequest) -> str:
    """Return the pairs with less than the one that is named the fastest, with the reasons."""
    fastest_ms = fastest.prediction.latency_ms or 0.0
    less = [pair for pair in numbers if (pair.prediction.latency_ms or fastest_ms) < fastest_ms]
    return f"; a shorter time on {_named(less, request)}" if less else ""


def _best_rate(numbers: Sequence[Pair], request: ReportRequest) -> str:
    """Return the target with the most items a second, where batches differ."""
    if not has_several_batches(numbers):
        return ""
    best = max(numbers, key=lambda pair: _items_a_second(pair.prediction))
    rate = latency_words(best.prediction, LatencyUnit.FPS)
    return f"; most items a second: {rate} on {request.target_name(best.target)}"


def _items_a_second(prediction: Prediction) -> float:
    rate = wording.in_unit(
        prediction.latency_ms, LatencyUnit.FPS, wording.batch_of(prediction.configuration)
    )
    return rate or 0.0


def _met(within: int, pairs: Sequence[Pair], budget_ms: float) -> str:
    call = " a call" if has_several_batches(pairs) else ""
    budget, targets = f"the budget of {wording.number(budget_ms)} ms{call} on", len(pairs)
    if targets == 1:
        return f"{'meets' if within else 'misses'} {budget} its target: "
    total = plural(targets, "target")
    if not within:
        return f"meets {budget} none of {total}: the nearest is "
    return f"meets {budget} {f'all {total}' if within == targets else f'{within} of {total}'}: "


def _named(pairs: Sequence[Pair], request: ReportRequest) -> str:
    return joined([_with_latency(pair, request) for pair in pairs], _TARGETS_NAMED)


def _doubt(numbers: Sequence[Pair], named: int, request: ReportRequest, budget_ms: float) -> str:
    """Return what to measure to be sure: the target nearest to an even chance.

    Args:
        numbers: the fastest first.
        named: count of the first ones that the sentence has named.
        request: the report's.
        budget_ms: the budget.
    """
    likely = [budget_probability(pair.prediction, budget_ms) for pair in numbers]
    open_ones = [
        (abs(part - 0.5), place)
        for place, part in enumerate(likely)
        if part is not None
        and _UNSURE[0] < part < _UNSURE[1]
        and numbers[place].prediction.basis is not Basis.MEASURED
    ]
    if open_ones:
        place = min(open_ones)[1]
        # The fastest were named with their figures before.
        pair, is_named = numbers[place], place < named
        target = request.target_name(pair.target) if is_named else _with_latency(pair, request)
        return f"; to be sure, measure it on {target}"
    return "" if None in likely else "; every verdict is at least 90 % sure"


def _with_latency(pair: Pair, request: ReportRequest) -> str:
    """Name a target with its latency and, where there is an interval, its odds of meeting."""
    # A rate does not show how long a call takes where batches differ.
    is_alike = request.unit is not LatencyUnit.FPS or not has_several_batches([*request.pairs()])
    unit = request.unit if is_alike else LatencyUnit.MS
    words = [latency_words(pair.prediction, unit)]
    if request.budget_ms is None:
        interval = wording.interval_text(pair.prediction, unit)
        words += [] if interval == wording.NOTHING else [f"80 % interval {interval} {unit}"]
    else:
        if is_over(pair.prediction, request.budget_ms):
            words.append(
                f"{wording.number((pair.prediction.latency_ms or 0.0) / request.budget_ms)}×"
            )
        likely = budget_probability(pair.prediction, request.budget_ms)
        words += [] if likely is None else [f"{likelihood(likely)} likely"]
    if needs_quantising(pair.model.model, pair.prediction):
        words.append(wording.QUANTISED)
    if pair.prediction.few_chips:
        words.append(wording.FEW_CHECKED)
    return f"{request.target_name(pair.target)} ({', '.join(words)})"


def _advice(request: ReportRequest, explained: Sequence[Explained]) -> Iterator[report.Cell]:
    """Yield what changes each model's fastest prediction, warnings, and assumptions."""
    models = request.models[:_MODELS_NAMED]
    for one in fastest_per_model(explained)[:_MODELS_NAMED]:
        if one.sensitivity and one.sensitivity.sentence:
            target = request.target_name(one.pair.target)
            yield report.Cell(
                f"{brief(one.pair.model.label)} on {target}. {one.sensitivity.sentence}"
            )
    if _names_int8(request, explained):
        yield report.Cell(_INT8, tone=report.Tone.WARN)
    warnings = [(brief(model.label), tuple(_warnings(model, request))) for model in models]
    for sentence in (*by_sentence(warnings), *assumed(request)):
        yield report.Cell(sentence, tone=report.Tone.WARN)


def _names_int8(request: ReportRequest, explained: Sequence[Explained]) -> bool:
    """Whether the answer has a number of a quantised model that is still to be made."""
    advised = (one.sensitivity.alternatives for one in explained if one.sensitivity)
    runs = (needs_quantising(pair.model.model, pair.prediction) for pair in request.pairs())
    return any(run.needs_quantising for advice in advised for run in advice) or any(runs)


def _warnings(model: ReportedModel, request: ReportRequest) -> Iterator[str]:
    pairs = request.pairs_of(model)
    for sentence, applies in _WARNINGS:
        names = [request.target_name(p.target) for p in pairs if applies(p.prediction)]
        if names:
            yield sentence.format(joined(names, _TARGETS_NAMED))
    flagged = max((len(p.prediction.flagged_operators) for p in pairs), default=0)
    if flagged:
        yield f"{plural(flagged, 'operator')} could not be counted in full."
