"""Remarks beyond the figures of predictions: doubts, problems, assumptions, in one wording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from predictor.core.prediction import Prediction
from predictor.core.records import Basis
from predictor.core.text import plural
from predictor.presentation import verdict, wording
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext

# Doubts are several sentences: cut as names are, they would lose their middle.
_LONGEST_REMARK: Final = 1000
_EVERYWHERE = frozenset({Place.COMPARE, Place.DETAILS, Place.TEXT, Place.REPORT})


def no_number(prediction: Prediction) -> str:
    """Return in words why there is no number."""
    return f"no number: {_remark_text(prediction.problem)}"


def remarks(row: PredictionRow, context: TableContext) -> list[str]:
    """Return the remarks beyond the figures shown in a place: doubts, problems, assumptions.

    Each begins with a small letter and ends without a stop, but for ``notes``.
    """
    return [text for places, text in _remarks(row, context) if context.place in places]


def _remark_text(text: str) -> str:
    return wording.shown(text, _LONGEST_REMARK)


def _origin(
    prediction: Prediction, context: TableContext
) -> Iterator[tuple[frozenset[Place] | set[Place], str]]:
    """Yield from which measurements a number comes."""
    is_measured = prediction.basis is Basis.MEASURED
    if prediction.evidence and not is_measured:
        yield {Place.DETAILS, Place.TEXT, Place.REPORT}, _remark_text(prediction.evidence)
        if prediction.scaled_from:
            yield {Place.COMPARE}, "scaled from what you measured of it elsewhere"
    if is_measured and prediction.predicted_ms is not None:
        batch = wording.batch_of(prediction.configuration)
        predicted = wording.latency_text(prediction.predicted_ms, context.unit, batch)
        yield {Place.DETAILS, Place.REPORT}, f"the engine alone predicts {predicted}"
        yield {Place.TEXT}, f"predicted {predicted}"
    if prediction.adaptation:
        yield {Place.TEXT}, f"adapted by {wording.adaptation_name(prediction.adaptation)}"


def _stands(prediction: Prediction, budget_ms: float) -> str:
    if verdict.is_over(prediction, budget_ms):
        return "over"
    return "may be over" if prediction.is_lower_limit else "meets"


def _uncounted(
    prediction: Prediction,
) -> Iterator[tuple[frozenset[Place] | set[Place], str]]:
    """Yield how many operators are not counted, and what that makes of the number."""
    if prediction.flagged_operators:
        flagged = plural(len(prediction.flagged_operators), "operator")
        places = {Place.COMPARE, Place.TEXT}
        if wording.limit_sign(prediction):
            yield places | {Place.REPORT}, f"a lower limit: {flagged} not counted in full"
        else:
            yield places, f"{flagged} not counted in full"


def _doubts(prediction: Prediction) -> Iterator[tuple[frozenset[Place] | set[Place], str]]:
    """Yield why a number may be wrong."""
    if prediction.unstable:
        yield _EVERYWHERE, f"{wording.UNSTABLE}: {_remark_text(prediction.unstable)}"
    if prediction.out_of_distribution:
        yield (
            _EVERYWHERE - {Place.TEXT},
            f"uncertain: {_remark_text(prediction.out_of_distribution)}",
        )
        yield {Place.TEXT}, _remark_text(prediction.out_of_distribution)


def _ends_at_bound(prediction: Prediction) -> bool:
    (low_ms, _), bound_ms = wording.interval_ms(prediction), prediction.bound_ms
    return low_ms is not None and bound_ms is not None and 0 < bound_ms >= low_ms


def _remarks(
    row: PredictionRow, context: TableContext
) -> Iterator[tuple[frozenset[Place] | set[Place], str]]:
    """Yield each remark with its places; a place that shows the fact elsewhere is left out.

    The command line's words are read by scripts too, and stay without labels.
    """
    prediction, budget_ms = row.prediction, context.budget_ms
    if prediction.problem:
        yield _EVERYWHERE - {Place.TEXT}, no_number(prediction)
        yield {Place.TEXT}, _remark_text(prediction.problem)
    for note in row.notes:
        yield {Place.COMPARE}, note
    if prediction.provenance:
        yield {Place.DETAILS, Place.REPORT}, f"measured: {_remark_text(prediction.provenance)}"
    if not prediction.problem:
        yield from _doubts(prediction)
        yield from _origin(prediction, context)
    if prediction.slower:
        yield _EVERYWHERE, prediction.slower
    if budget_ms is not None and prediction.latency_ms is not None:
        yield {Place.TEXT}, f"{_stands(prediction, budget_ms)} {wording.number(budget_ms)} ms"
    if _ends_at_bound(prediction):
        yield _EVERYWHERE, "the interval ends at the bound"
    if prediction.fits_memory is False and not prediction.problem:
        yield {Place.TEXT, Place.REPORT}, "does not fit in the device's memory"
    if prediction.unsupported is not None:
        yield _EVERYWHERE, wording.unsupported_text(prediction.unsupported)
    yield from _uncounted(prediction)
