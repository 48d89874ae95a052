"""The operators that take the time, pair by pair; and what the network attended to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core.progress import CancelToken, Progress, ProgressCallback
from predictor.core.records import Basis
from predictor.core.report import (
    Block,
    Cell,
    Heading,
    Paragraph,
    Row,
    Section,
    SectionId,
    Table,
)
from predictor.core.text import plural
from predictor.core.units import format_bytes, format_count
from predictor.core.wording import configuration_text, number, percent, shown
from predictor.services.prediction.predict import OperatorTable
from predictor.services.report.request import Pair, ReportRequest
from predictor.services.report.words import (
    brief,
    dims,
    figures,
    latency_words,
    share,
    text,
    words,
)

_COLUMNS = (
    words("name", "Operator"),
    words("op_type", "Type"),
    words("output", "Output"),
    figures("macs", "MACs"),
    figures("bytes_moved", "Bytes"),
    figures("latency_ms", "ms"),
    figures("share", "Share"),
    figures("sum", "Sum"),
    words("bound", "Bound"),
)
_BOUNDS = ("compute", "memory", "launch")


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """A pair with a number, and where its time goes."""

    pair: Pair
    table: OperatorTable


def explained_pairs(
    request: ReportRequest, cancel: CancelToken, report: ProgressCallback
) -> tuple[Explained, ...]:
    """Explain every pair that has a number, the fastest target of the first model first.

    Raises:
        CancelledError: it was cancelled.
    """
    pairs = [
        pair
        for model in request.models
        for pair in request.pairs_of(model)
        if pair.prediction.latency_ms is not None
    ]
    found = []
    for place, pair in enumerate(pairs):
        cancel.check()
        report(Progress(place, len(pairs), f"Explaining {request.target_name(pair.target)}"))
        found.append(Explained(pair, request.explain(pair.model.model, pair.target)))
    return tuple(found)


def operators_section(request: ReportRequest, explained: Sequence[Explained]) -> Section:
    """Return the slowest operators of each pair."""
    blocks = [block for one in explained for block in _blocks(one, request)]
    return Section(SectionId.OPERATORS, "Operators", tuple(blocks))


def pair_heading(pair: Pair, request: ReportRequest) -> Heading:
    """Return a heading that names a pair, with its configuration and its latency."""
    model = f"{brief(pair.model.label)} on " if len(request.models) > 1 else ""
    detail = configuration_text(pair.prediction.configuration)
    figure = latency_words(pair.prediction, request.unit)
    return Heading(f"{model}{brief(pair.target.device.name)}", f"{detail} · {figure}")


def slowest(table: OperatorTable, most: int) -> list[int]:
    """Return the operators that take time, the slowest first, at most so many."""
    order = np.argsort(-table.latency_ms, kind="stable")
    return [int(index) for index in order[:most].tolist() if table.latency_ms[index] > 0]


def _blocks(explained: Explained, request: ReportRequest) -> Iterator[Block]:
    table = explained.table
    chosen = slowest(table, request.operators)
    yield pair_heading(explained.pair, request)
    yield Paragraph(_sentence(table, chosen) + _of_prediction(explained.pair))
    if chosen:
        yield Table(_COLUMNS, tuple(_rows(table, chosen)))


def _sentence(table: OperatorTable, chosen: Sequence[int]) -> str:
    """Say how much of the time the listed operators take, and what holds the whole."""
    every = plural(len(table.names), "operator")
    if not chosen:
        return f"None of {every} takes time."
    taken = float(table.share[list(chosen)].sum())
    bound_type = np.array(table.bound_type)
    parts = [(float(table.share[bound_type == kind].sum()), kind) for kind in _BOUNDS]
    held = ", ".join(
        f"{percent(part)} by {kind}" for part, kind in sorted(parts, reverse=True) if part
    )
    count = "The slowest operator" if len(chosen) == 1 else f"The {len(chosen)} slowest"
    verb = "takes" if len(chosen) == 1 else "take"
    return f"{count} of {every} {verb} {percent(taken)} of the time. The whole time is held {held}."


def _of_prediction(pair: Pair) -> str:
    """Say where the operators' times are not parts of the latency that is shown."""
    if pair.prediction.basis is not Basis.MEASURED:
        return ""
    return " The latency was measured as a whole; the parts are those of the engine's prediction."


def _rows(table: OperatorTable, chosen: Sequence[int]) -> Iterator[Row]:
    reached = 0.0
    for index in chosen:
        reached += float(table.share[index])
        macs, moved = int(table.macs[index]), int(table.bytes_moved[index])
        latency_ms = float(table.latency_ms[index])
        cells = (
            text(shown(table.names[index])),
            text(shown(table.op_types[index])),
            text(dims(table.output_shapes[index])),
            Cell(format_count(macs) if macs else "", float(macs)),
            Cell(format_bytes(moved), float(moved)),
            Cell(number(latency_ms), latency_ms),
            share(float(table.share[index])),
            share(reached),
            text(table.bound_type[index]),
        )
        yield Row(cells)
