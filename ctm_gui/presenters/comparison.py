"""What the Compare view shows: rows, groups of bars, order, verdicts and the sentence above.

Everything here is free of widgets; latencies are milliseconds unless a name says otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ctm_gui.presenters.ordering import natural_key
from ctm_gui.presenters.wording import (
    basis_text,
    batch_of,
    configuration_text,
    interval_text,
    latency_text,
    memory_text,
    number,
    shown,
)
from predictor.core.records import Prediction
from predictor.core.units import LatencyUnit

# More models than this are summed up instead of named one by one.
_MODELS_NAMED = 3


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One prediction with the words that the prediction itself does not carry.

    Attributes:
        prediction: latency of one model on one target, or why there is none.
        device_name: the device's name for people.
        vendor: maker of the device.
        family: kind of compute unit, as in ``Family``.
        model_label: the model's name in the window, unique among the loaded models.
    """

    prediction: Prediction
    device_name: str
    vendor: str
    family: str
    model_label: str


class GroupOrder(StrEnum):
    """How the targets of the chart are ordered."""

    LATENCY = "Latency"
    NAME = "Name"
    FAMILY = "Family"


class Verdict(StrEnum):
    """How a prediction stands to the budget."""

    NONE = "—"
    MEETS = "meets"
    MEETS_MAYBE = "meets, may miss"
    OVER_MAYBE = "over, may meet"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class TargetGroup:
    """The rows of one target, one a model.

    Attributes:
        name: the device's name, as shown.
        detail: the configuration in words.
        family: kind of compute unit.
        rows: indices into the rows shown, in the order of the models.
    """

    name: str
    detail: str
    family: str
    rows: tuple[int, ...]


def verdict(prediction: Prediction, budget_ms: float | None) -> Verdict:
    """Return how ``prediction`` stands to the budget; its P50 decides, its interval qualifies."""
    latency = prediction.latency_ms
    if latency is None or budget_ms is None:
        return Verdict.NONE
    if latency <= budget_ms:
        high = prediction.high80_ms
        return Verdict.MEETS if high is None or high <= budget_ms else Verdict.MEETS_MAYBE
    low = prediction.low80_ms
    return Verdict.OVER if low is None or low > budget_ms else Verdict.OVER_MAYBE


def is_over(prediction: Prediction, budget_ms: float | None) -> bool:
    """Return whether the P50 is over the budget."""
    return verdict(prediction, budget_ms) in {Verdict.OVER, Verdict.OVER_MAYBE}


def verdict_text(prediction: Prediction, budget_ms: float | None) -> str:
    """Write the verdict, with how many times the budget a latency over it takes."""
    found = verdict(prediction, budget_ms)
    if prediction.latency_ms is None or not budget_ms or not is_over(prediction, budget_ms):
        return found.value
    return f"{found.value} ({number(prediction.latency_ms / budget_ms)}×)"


def model_labels(rows: Sequence[ComparisonRow]) -> tuple[str, ...]:
    """Return the models' labels in the order in which they first appear."""
    return tuple(dict.fromkeys(row.model_label for row in rows))


def target_groups(
    rows: Sequence[ComparisonRow], kept: Iterable[int] | None = None
) -> tuple[TargetGroup, ...]:
    """Gather the rows of each target, in the order in which the targets first appear.

    Args:
        rows: all rows.
        kept: indices of the rows to gather, None for all.

    A model's own batch may differ from another's on the same target, so the batch does not tell
    targets apart; where a model appears twice, its second row belongs to a second group.
    """
    return tuple(_group(rows, members) for members in _members(rows, kept))


def _members(
    rows: Sequence[ComparisonRow], kept: Iterable[int] | None = None
) -> Collection[Sequence[int]]:
    """Return the indices of the rows of each target."""
    groups: dict[tuple[object, ...], list[int]] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for index in range(len(rows)) if kept is None else kept:
        row = rows[index]
        c = row.prediction.configuration
        target = (row.prediction.device_id, c.runtime, c.precision, c.threads)
        place = (*target, row.model_label)
        groups.setdefault((*target, seen[place]), []).append(index)
        seen[place] += 1
    return groups.values()


def _group(rows: Sequence[ComparisonRow], members: Sequence[int]) -> TargetGroup:
    first = rows[members[0]]
    details = dict.fromkeys(configuration_text(rows[i].prediction.configuration) for i in members)
    return TargetGroup(shown(first.device_name), " / ".join(details), first.family, tuple(members))


def ordered_groups(
    groups: Sequence[TargetGroup], rows: Sequence[ComparisonRow], order: GroupOrder
) -> tuple[TargetGroup, ...]:
    """Order the targets: by the fastest of their models, by name, or by family and then latency.

    Targets without any number come last in the orders by latency.
    """

    def fastest(group: TargetGroup) -> float:
        return min(
            (latency for i in group.rows if (latency := rows[i].prediction.latency_ms) is not None),
            default=float("inf"),
        )

    if order is GroupOrder.NAME:
        return tuple(sorted(groups, key=lambda group: natural_key(group.name)))
    if order is GroupOrder.FAMILY:
        return tuple(sorted(groups, key=lambda group: (group.family, fastest(group))))
    return tuple(sorted(groups, key=fastest))


def search_texts(rows: Sequence[ComparisonRow]) -> tuple[str, ...]:
    """Return for each row the case-folded words that the filter looks through."""
    return tuple(
        " ".join(
            (
                shown(row.model_label),
                shown(row.device_name),
                row.vendor,
                row.family,
                configuration_text(row.prediction.configuration),
                basis_text(row.prediction),
                row.prediction.problem,
            )
        ).casefold()
        for row in rows
    )


def summary(rows: Sequence[ComparisonRow], budget_ms: float | None, unit: LatencyUnit) -> str:
    """Say in one line how many targets meet the budget and which is the fastest.

    For example ``3 of 12 targets meet 30 ms; fastest: RTX 4090 (1.2 ms)``.
    """
    if not rows:
        return ""
    parts = [_counts(rows, budget_ms), _fastest(rows, unit), _without_number(rows)]
    return "; ".join(part for part in parts if part)


def _counts(rows: Sequence[ComparisonRow], budget_ms: float | None) -> str:
    targets = len(_members(rows))
    models = model_labels(rows)
    if budget_ms is None:
        of_models = f", {len(models)} models" if len(models) > 1 else ""
        return f"{_plural(targets, 'target')}{of_models}"
    meeting = Counter(
        row.model_label
        for row in rows
        if row.prediction.latency_ms is not None and not is_over(row.prediction, budget_ms)
    )
    budget = f"{number(budget_ms)} ms"
    if len(models) == 1:
        verb = "meets" if targets == 1 else "meet"
        return f"{meeting.total()} of {_plural(targets, 'target')} {verb} {budget}"
    if len(models) > _MODELS_NAMED:
        return (
            f"{meeting.total()} of {len(rows)} predictions meet {budget} "
            f"({len(models)} models on {_plural(targets, 'target')})"
        )
    each = ", ".join(f"{shown(model)} on {meeting[model]}" for model in models)
    return f"{budget} met by {each} of {_plural(targets, 'target')}"


def _fastest(rows: Sequence[ComparisonRow], unit: LatencyUnit) -> str:
    known = [row for row in rows if row.prediction.latency_ms is not None]
    if not known:
        return ""
    best = min(known, key=lambda row: row.prediction.latency_ms or 0.0)
    prediction = best.prediction
    text = latency_text(prediction.latency_ms, unit, batch_of(prediction.configuration))
    model = f"{shown(best.model_label)} on " if len(model_labels(rows)) > 1 else ""
    return f"fastest: {model}{shown(best.device_name)} ({text})"


def _without_number(rows: Sequence[ComparisonRow]) -> str:
    missing = sum(row.prediction.latency_ms is None for row in rows)
    return f"{missing} without a number" if missing else ""


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def details(row: ComparisonRow, unit: LatencyUnit, budget_ms: float | None) -> str:
    """Return the lines that hovering over a bar or a row shows, as plain text."""
    prediction = row.prediction
    batch = batch_of(prediction.configuration)
    lines = [f"{shown(row.model_label)} on {shown(row.device_name)}"]
    if prediction.latency_ms is None:
        lines.append(f"No number: {shown(prediction.problem)}")
    else:
        lines.append(f"Latency: {latency_text(prediction.latency_ms, unit, batch)} (P50)")
    if prediction.low80_ms is not None:
        lines.append(f"80 % interval: {interval_text(prediction, unit)} {unit}")
    if prediction.bound_ms is not None:
        lines.append(f"Bound: {latency_text(prediction.bound_ms, unit, batch)}")
    lines += _standing(prediction, budget_ms)
    lines.append(f"Configuration: {configuration_text(prediction.configuration)}")
    lines.append(f"Basis: {basis_text(prediction)}, engine {shown(prediction.engine)}")
    return "\n".join(lines)


def _standing(prediction: Prediction, budget_ms: float | None) -> list[str]:
    lines = []
    if budget_ms is not None and prediction.latency_ms is not None:
        lines.append(f"Budget {number(budget_ms)} ms: {verdict_text(prediction, budget_ms)}")
    lines.append(f"Memory: {memory_text(prediction.fits_memory)}")
    if prediction.out_of_distribution:
        lines.append(f"Outside what the engine knows: {shown(prediction.out_of_distribution)}")
    if prediction.flagged_operators:
        first = ", ".join(shown(name) for name in prediction.flagged_operators[:3])
        more = len(prediction.flagged_operators) - 3
        rest = f" and {more} more" if more > 0 else ""
        lines.append(f"Flagged operators: {first}{rest}")
    return lines
