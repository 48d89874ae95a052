"""The summary: targets that meet the budget, the fastest, and the basis and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from predictor.core.records import Basis, Prediction
from predictor.core.report import Block, Bullets, Cell, Heading, Paragraph, Section, SectionId, Tone
from predictor.core.text import plural
from predictor.core.verdict import (
    VERDICT_TONES,
    Verdict,
    budget_probability,
    is_over,
    likelihood,
    verdict,
)
from predictor.core.wording import interval_text, number
from predictor.services.report.request import Pair, ReportedModel, ReportRequest
from predictor.services.report.words import brief, latency_words, listed

_MODELS_NAMED = 12
_GROUPS: tuple[tuple[Verdict, str], ...] = (
    (Verdict.MEETS, "Meets {budget}"),
    (Verdict.MEETS_MAYBE, "Meets {budget} by its P50, but the 80 % interval reaches beyond it"),
    (Verdict.OVER_MAYBE, "Over {budget} by its P50, but the 80 % interval reaches below it"),
    (Verdict.OVER, "Over {budget}"),
)
_BASIS_SENTENCES: dict[Basis, str] = {
    Basis.MEASURED: "Measured: this very model was measured on this target.",
    Basis.PROBED: "Calibrated: predicted from other networks that were measured on this target.",
    Basis.ZERO_SHOT: (
        "From specs: predicted from the device's facts and from measurements of hardware or "
        "configurations near it, where there are any; the remark names them."
    ),
    Basis.ANALYTIC: (
        "Analytic: the time at the device's peak rates, operator by operator. Real runs are "
        "usually slower, often by a factor of 1 to 4. It ranks targets and shows what limits "
        "them; it does not promise a latency."
    ),
}

_WARNINGS: tuple[tuple[str, Callable[[Prediction], bool]], ...] = (
    ("Does not fit in the memory of {}.", lambda p: p.fits_memory is False),
    ("Outside the training range: {}.", lambda p: bool(p.out_of_distribution)),
    ("No number: {}; the comparison says why.", lambda p: p.latency_ms is None),
)


def summary_section(request: ReportRequest) -> Section:
    """Return the summary of all models."""
    blocks: list[Block] = []
    for model in request.models[:_MODELS_NAMED]:
        pairs = request.pairs_of(model)
        blocks.append(Paragraph(_finding(model, pairs, request)))
        blocks.append(Bullets(tuple(_bullets(pairs, request))))
    more = len(request.models) - _MODELS_NAMED
    if more > 0:
        blocks.append(Paragraph(f"{plural(more, 'more model')} stand in the comparison."))
    blocks += [Heading("How sure this is"), Bullets(tuple(_sureness(request)))]
    return Section(SectionId.SUMMARY, "Summary", tuple(blocks))


def _finding(model: ReportedModel, pairs: Sequence[Pair], request: ReportRequest) -> str:
    """Return the number of targets on which a model meets the budget, in one sentence."""
    name, targets = brief(model.label), plural(len(pairs), "target")
    numbers = [pair for pair in pairs if pair.prediction.latency_ms is not None]
    if not numbers:
        return f"{name} has no number on any of {targets}."
    if request.budget_ms is None:
        return f"{name} was predicted on {targets}. No budget was given."
    within = [p for p in numbers if (p.prediction.latency_ms or 0.0) <= request.budget_ms]
    budget = f"{number(request.budget_ms)} ms"
    if len(within) == len(pairs):
        where = "its target" if len(pairs) == 1 else f"all {targets}"
    else:
        where = f"{len(within) or 'none'} of {targets}"
    return f"{name} meets the budget of {budget} on {where}."


def _bullets(pairs: Sequence[Pair], request: ReportRequest) -> Iterator[Cell]:
    numbers = [pair for pair in pairs if pair.prediction.latency_ms is not None]
    if request.budget_ms is not None:
        yield from _by_verdict(numbers, request, request.budget_ms)
    elif numbers:
        # ``pairs_of`` has the fastest first.
        yield Cell(f"Fastest: {_with_latency(numbers[0], request)}.")
        if len(numbers) > 1:
            yield Cell(f"Slowest: {_with_latency(numbers[-1], request)}.")
    yield from _warnings(pairs, request)


def _by_verdict(
    numbers: Sequence[Pair], request: ReportRequest, budget_ms: float
) -> Iterator[Cell]:
    for kind, words in _GROUPS:
        of_kind = [p for p in numbers if verdict(p.prediction, budget_ms) is kind]
        if of_kind:
            names = listed([_with_latency(pair, request) for pair in of_kind])
            head = words.format(budget=f"{number(budget_ms)} ms")
            yield Cell(f"{head}: {names}.", tone=VERDICT_TONES[kind])


def _with_latency(pair: Pair, request: ReportRequest) -> str:
    """Name a target with its latency and, where there is an interval, its odds of meeting."""
    words = [latency_words(pair.prediction, request.unit)]
    if request.budget_ms is not None:
        if is_over(pair.prediction, request.budget_ms):
            words.append(f"{number((pair.prediction.latency_ms or 0.0) / request.budget_ms)}×")
        likely = budget_probability(pair.prediction, request.budget_ms)
        words += [] if likely is None else [f"{likelihood(likely)} likely to meet it"]
    return f"{request.target_name(pair.target)} ({', '.join(words)})"


def _warnings(pairs: Sequence[Pair], request: ReportRequest) -> Iterator[Cell]:
    for sentence, applies in _WARNINGS:
        names = [request.target_name(p.target) for p in pairs if applies(p.prediction)]
        if names:
            yield Cell(sentence.format(listed(names)), tone=Tone.WARN)
    flagged = max((len(p.prediction.flagged_operators) for p in pairs), default=0)
    if flagged:
        yield Cell(f"{plural(flagged, 'operator')} could not be counted in full.", tone=Tone.WARN)


def _sureness(request: ReportRequest) -> Iterator[Cell]:
    """Yield sentences on the basis of the numbers and the width of their intervals."""
    pairs = list(request.pairs())
    for basis, sentence in _BASIS_SENTENCES.items():
        of_basis = [pair for pair in pairs if pair.prediction.basis is basis]
        if of_basis:
            yield Cell(f"{plural(len(of_basis), 'number')}. {sentence}")
    widest = max(pairs, key=_spread)
    if _spread(widest) > 0:
        yield Cell(
            "The 80 % interval is meant to hold the real latency in 8 of 10 cases, the 95 % one in "
            f"19 of 20. The widest here: {request.target_name(widest.target)}, "
            f"{interval_text(widest.prediction, request.unit)} {request.unit}."
        )
    elif any(pair.prediction.latency_ms is not None for pair in pairs):
        yield Cell("This engine gives no interval.")


def _spread(pair: Pair) -> float:
    """Return the high end of the 80 % interval over its low end; 0 without one."""
    low, high = pair.prediction.low80_ms, pair.prediction.high80_ms
    if not low or high is None:
        return 0.0
    return high / low
