"""Facts of the selected operators of a model: work, time, roofs, advice.

Without a selection they are of the whole model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from ctm_gui.graph.facts import types_text
from ctm_gui.operators.rows import operator_unit
from ctm_gui.prediction.explanation import Costs, Explained
from ctm_gui.roofline.points import rate_text
from ctm_gui.widgets.ordering import FloatArray, IndexArray
from predictor.core.text import capitalised, plural, uncapitalised
from predictor.core.units import LatencyUnit, format_bytes, format_count
from predictor.presentation.wording import latency_text, number, percent, shape_text, shown
from predictor.services.prediction.explain import BOUND_TYPES
from predictor.services.prediction.roofline import NO_ROOF
from predictor.services.prediction.sensitivity import Sensitivity, change_words
from predictor.services.prediction.timeline import module_path

Operators = IndexArray | slice

_TARGETS_NAMED = 12
_ROOFS_NAMED = 3
_MAX_PATHS = 2000  # paths of more operators than these take too long to compare in one turn
_PARTS = ("arithmetic", "memory", "launch")
_FACTS_NAMED = 2
_MIN_SAVED = 0.9995  # of the time: a change of less is no advice
# What a user can change about the operators of each bound.
_ADVICE = (
    "Fewer multiplications, a narrower number format or a faster unit.",
    "Fewer bytes: operators fused with their neighbours, or narrower tensors.",
    "Fewer starts: operators fused into larger ones, or a larger batch.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Facts of the operators that are selected.

    Attributes:
        title: the name of one operator, of the module of several, or of the model.
        kind: type and shape of one operator, the types of several.
        facts: names and values, in the order shown.
        targets: name, time and interval on every ticked target, the fastest first.
        place: which of ``targets`` is the explained one; None where it is not among them.
        help: sentences on what would make it faster.
    """

    title: str
    kind: str
    facts: tuple[tuple[str, str], ...]
    targets: tuple[tuple[str, str, str], ...] = ()
    place: int | None = None
    help: tuple[str, ...] = ()


def subject_of(
    explained: Explained,
    selected: IndexArray,
    unit: LatencyUnit,
    costs: Costs | None = None,
    sensitivity: Sensitivity | None = None,
) -> Subject:
    """Return the facts of K operators of an explained pair; of all of them where K is 0."""
    # All of a large model as a slice, which copies nothing.
    operators = selected if selected.size else slice(None)
    bounds = explained.table.bounds[operators]
    targets = tuple(costs_on_targets(costs, operators, unit))
    names = [name for name, _, _ in targets]
    target = shown(explained.target)
    return Subject(
        title=_title(explained, selected),
        kind=_kind(explained, np.arange(len(explained.table.names))[operators]),
        facts=tuple(_facts(explained, operators, bounds, unit)),
        targets=targets,
        place=names.index(target) if target in names else None,
        help=tuple(_help(explained, operators, bounds, sensitivity)),
    )


def _title(explained: Explained, selected: IndexArray) -> str:
    table = explained.table
    if not selected.size:
        return shown(explained.model)
    if selected.size == 1:
        place = int(selected[0])
        return shown(table.names[place] or table.op_types[place])
    count = plural(selected.size, "operator")
    if selected.size > _MAX_PATHS:
        return count
    # The first and the last in the order of words have no more in common than all between them.
    paths = [module_path(table.names[place]) for place in selected.tolist()]
    ends = zip(min(paths), max(paths), strict=False)
    common = [part for part, _ in takewhile(lambda pair: pair[0] == pair[1], ends)]
    return f"{shown('/'.join(common))}: {count}" if common else count


def _kind(explained: Explained, operators: IndexArray) -> str:
    table = explained.table
    if operators.size != 1:
        return types_text(table, operators)
    place = int(operators[0])
    words = [shown(table.op_types[place])]
    if table.output_shapes[place]:
        words.append(f"output {shape_text(table.output_shapes[place])}")
    if table.flags[place]:
        words.append(shown(table.flags[place]))
    return ", ".join(words)


def _facts(
    explained: Explained, operators: Operators, bounds: IndexArray, unit: LatencyUnit
) -> Iterator[tuple[str, str]]:
    table, display_unit = explained.table, operator_unit(unit)
    latency_ms = float(table.latency_ms[operators].sum())
    share = float(table.share[operators].sum())
    yield "Time", f"{latency_text(latency_ms, display_unit)}, {percent(share)} of the model"
    if explained.interval is not None and latency_ms:
        low, high = (number(display_unit.from_ms(latency_ms * end)) for end in explained.interval)
        yield "Likely", f"{low} to {high} {display_unit}"
    if explained.measured_ms is not None and bounds.size == len(table.names):
        measured = latency_text(explained.measured_ms, display_unit)
        yield "Measured", f"{measured}; the time here is what the engine predicts"
    yield "MACs", format_count(int(table.macs[operators].sum()))
    yield "Bytes", f"{format_bytes(int(table.bytes_moved[operators].sum()))} moved"
    yield "Weights", format_bytes(int(table.weight_bytes[operators].sum()))
    if latency_ms:
        parts = zip(_PARTS, (table.compute_ms, table.memory_ms, table.launch_ms), strict=True)
        times = [(name, float(part[operators].sum())) for name, part in parts]
        words = [f"{name} {latency_text(time, display_unit)}" for name, time in times if time]
        yield "Parts", ", ".join(words)
        yield from _bounds(explained, operators, bounds)


def _bounds(
    explained: Explained, operators: Operators, bounds: IndexArray
) -> Iterator[tuple[str, str]]:
    """Yield what holds operators, by their time, and what they reach of it."""
    times, roofline = explained.table.latency_ms[operators], explained.roofline
    roof_of = np.full(bounds.size, NO_ROOF)
    reached = np.full(bounds.size, np.nan)
    if roofline is not None:
        roof_of, reached = roofline.roof_of[operators], roofline.reached[operators]
    width = int(roof_of.max(initial=NO_ROOF)) - NO_ROOF + 1
    # One number for each pair of a bound and a roof, of which there are a few.
    pairs = bounds * width + (roof_of - NO_ROOF)
    sums = np.bincount(pairs, times)
    reaches = np.bincount(pairs, np.where(times > 0, reached * times, 0.0))
    parts: list[tuple[float, str, str]] = []
    for pair in np.flatnonzero(sums > 0).tolist():
        time, bound, roof = float(sums[pair]), pair // width, pair % width + NO_ROOF
        if roof == NO_ROOF or roofline is None:
            parts.append((time, BOUND_TYPES[bound], ""))
            continue
        one = roofline.roofs[roof]
        part = float(reaches[pair]) / time
        rate = rate_text(part * one.rate, one.counted)
        above = ": caches or a fast algorithm" if part > 1 else ""
        text = f"{percent(part, 2)} of {rate_text(one.rate, one.counted)} ({rate}){above}"
        parts.append((time, shown(one.label), text))
    parts.sort(key=lambda entry: -entry[0])
    total = float(times.sum())
    for place, (time, words, text) in enumerate(parts[:_ROOFS_NAMED]):
        share = f", {percent(time / total, 2)} of the time" if len(parts) > 1 else ""
        yield "and by" if place else "Held by", f"{words}{share}"
        if text:
            yield "Reaches", text


def costs_on_targets(
    costs: Costs | None, operators: Operators, unit: LatencyUnit
) -> list[tuple[str, str, str]]:
    """Return name, time and 80 % interval of operators on every target, the fastest first."""
    display_unit = operator_unit(unit)
    if costs is None or len(costs.names) < 2:
        return []
    times = costs.latency_ms[:, operators].sum(axis=1, dtype=np.float64)
    rows = []
    for place in np.argsort(times, kind="stable")[:_TARGETS_NAMED].tolist():
        time, ends = float(times[place]), costs.interval[place]
        low, high = (number(display_unit.from_ms(time * end)) for end in ends.tolist())
        interval = "" if np.isnan(ends).any() or not time else f"{low} to {high}"
        rows.append((shown(costs.names[place]), latency_text(time, display_unit), interval))
    further = len(costs.names) + costs.left_out - len(rows)
    return [*rows, (plural(further, "further target"), "", "")] if further else rows


def _help(
    explained: Explained,
    operators: Operators,
    bounds: IndexArray,
    sensitivity: Sensitivity | None,
) -> Iterator[str]:
    times: FloatArray = explained.table.latency_ms[operators]
    if not times.sum():
        yield "It takes no time of its own."
        return
    changes = []
    for fact in sensitivity.facts if sensitivity is not None else ():
        # The elasticity of what takes no time is NaN.
        elasticity = np.nan_to_num(fact.operators[operators])
        factor = float(times @ 1.1**elasticity / times.sum())
        saved = change_words(factor).lstrip("−-")
        changes.append((factor, f"{uncapitalised(fact.label)} +10 % saves {saved} of it"))
    changes.sort(key=lambda change: change[0])
    words = [text for factor, text in changes[:_FACTS_NAMED] if factor < _MIN_SAVED]
    if words:
        yield f"{capitalised('; '.join(words))}."
    of_bounds = np.bincount(bounds, times, len(BOUND_TYPES))
    yield _ADVICE[int(of_bounds.argmax())]
