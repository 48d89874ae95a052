"""The operators that take the time, pair by pair; and the network's attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core.progress import CancelToken, Progress, ProgressCallback
from predictor.core.records import Basis
from predictor.core.text import plural
from predictor.core.units import format_count, significant
from predictor.cost.engine import AttentionMaps
from predictor.presentation.report import (
    Block,
    Cell,
    Heading,
    HeatMap,
    Paragraph,
    Section,
    SectionId,
)
from predictor.presentation.wording import configuration_text, number, percent, shape_text, shown
from predictor.services.prediction.attention import token_label
from predictor.services.prediction.explain import OperatorTable
from predictor.services.prediction.sensitivity import Sensitivity
from predictor.services.report.request import Pair, ReportedModel, ReportRequest, leading
from predictor.services.report.words import (
    Field,
    brief,
    figures,
    latency_words,
    share,
    size,
    table_of,
    words,
)

_MAX_OPERATORS = 18
_MAX_METRICS = 14
_BOUNDS = ("compute", "memory", "launch")
_READ_BY_OPERATORS = (
    "What each operator reads of the device: an operator's row sums to 100 % over all facts"
)
_READ_BY_FACTS = (
    "What each fact reads of the model: a fact's column sums to 100 % over all operators"
)


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """A pair with a number, where its time goes, and what would change it."""

    pair: Pair
    table: OperatorTable
    sensitivity: Sensitivity | None


def explained_pairs(
    request: ReportRequest,
    cancel: CancelToken,
    report: ProgressCallback,
    *,
    fastest_only: bool = False,
) -> tuple[Explained, ...]:
    """Explain the pairs that have a number, the fastest target of the first model first.

    Args:
        request: models, targets and predictions.
        cancel: asks to stop.
        report: called for each pair.
        fastest_only: whether only the chosen or fastest target of each model is explained.

    Raises:
        CancelledError: it was cancelled.
    """
    pairs = [
        pair
        for model in request.models
        for pair in _leading_first(model, request)[: 1 if fastest_only else None]
    ]
    explained = []
    for place, pair in enumerate(pairs):
        cancel.check()
        report(Progress(place, len(pairs), f"Explaining {request.target_name(pair.target)}"))
        model, target = pair.model.model, pair.target
        table = request.explain(model, target).scaled(pair.prediction.scale)
        sensitivity = request.sensitivity(model, target) if request.sensitivity else None
        explained.append(Explained(pair, table, sensitivity))
    return tuple(explained)


def _leading_first(model: ReportedModel, request: ReportRequest) -> list[Pair]:
    """Return the pairs of a model that have a number, the chosen one or the fastest first."""
    pairs = request.pairs_of(model)
    numbers = [pair for pair in pairs if pair.prediction.latency_ms is not None]
    if not numbers:
        return []
    first = next(filter(request.is_chosen, numbers), leading(numbers))
    return [first, *(pair for pair in numbers if pair is not first)]


def fastest_per_model(explained: Sequence[Explained]) -> list[Explained]:
    """Return each model's explanation on its chosen or fastest target, in order of the models."""
    fastest: dict[str, Explained] = {}
    for one in explained:  # that target comes first
        fastest.setdefault(one.pair.model.label, one)
    return list(fastest.values())


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


def slowest(table: OperatorTable, limit: int) -> list[int]:
    """Return the operators that take time, the slowest first, at most so many."""
    # Stable and to five digits: equal operators keep the order of the graph in every run, though
    # the last digits of their times depend on the order of sums.
    times = np.array([float(f"{time:.5g}") for time in table.latency_ms.tolist()])
    order = np.argsort(-times, kind="stable")
    return [int(index) for index in order[:limit].tolist() if table.latency_ms[index] > 0]


def _blocks(explained: Explained, request: ReportRequest) -> Iterator[Block]:
    table = explained.table
    chosen = slowest(table, request.operators)
    yield pair_heading(explained.pair, request)
    yield Paragraph(time_sentence(table, chosen) + _of_prediction(explained.pair))
    if explained.sensitivity and explained.sensitivity.sentence:
        yield Paragraph(explained.sensitivity.sentence)
    if chosen:
        yield table_of(operator_fields(explained.table, chosen), chosen)


def time_sentence(table: OperatorTable, chosen: Sequence[int]) -> str:
    """Return a sentence on the time of the chosen operators, and on the bounds of all."""
    operators = plural(len(table.names), "operator")
    if not chosen:
        return f"None of {operators} takes time."
    chosen_share = float(table.share[list(chosen)].sum())
    bound_type = np.array(table.bound_type)
    parts = [(float(table.share[bound_type == kind].sum()), kind) for kind in _BOUNDS]
    bounds = ", ".join(
        f"{percent(part)} by {kind}" for part, kind in sorted(parts, reverse=True) if part
    )
    count = "The slowest operator" if len(chosen) == 1 else f"The {len(chosen)} slowest"
    verb = "takes" if len(chosen) == 1 else "take"
    return (
        f"{count} of {operators} {verb} {percent(chosen_share)} of the time. "
        f"The whole time is held {bounds}."
    )


def _of_prediction(pair: Pair) -> str:
    """Return a note where the operators' times are no parts of the latency that is shown."""
    if pair.prediction.basis is not Basis.MEASURED:
        return ""
    return " The latency was measured as a whole; the parts are those of the engine's prediction."


def operator_fields(operators: OperatorTable, chosen: Sequence[int]) -> Sequence[Field[int]]:
    """Return the columns of a table of operators, by their index.

    ``Sum`` adds up the shares of the chosen operators from the first on.
    """
    reached = dict(zip(chosen, np.cumsum(operators.share[list(chosen)]).tolist(), strict=True))
    return (
        words("name", "Operator", lambda index: shown(operators.names[index])),
        words("op_type", "Type", lambda index: shown(operators.op_types[index])),
        words("output", "Output", lambda index: shape_text(operators.output_shapes[index])),
        figures("macs", "MACs", lambda index: _macs(int(operators.macs[index]))),
        figures("bytes_moved", "Bytes", lambda index: size(int(operators.bytes_moved[index]))),
        figures("latency_ms", "ms", lambda index: _milliseconds(operators.latency_ms[index])),
        figures("share", "Share", lambda index: share(float(operators.share[index]))),
        figures("sum", "Sum", lambda index: share(reached[index])),
        words("bound", "Bound", lambda index: operators.bound_type[index]),
    )


def _macs(macs: int) -> Cell:
    return Cell(format_count(macs) if macs else "", float(macs))


def _milliseconds(latency_ms: np.float64) -> Cell:
    return Cell(number(float(latency_ms)), float(latency_ms))


def attention_section(request: ReportRequest, explained: Sequence[Explained]) -> Section:
    """Return the heat maps of the pairs whose engine attends; no blocks where none does."""
    blocks: list[Block] = []
    for one in explained:
        attention = one.table.attention
        if attention is not None:
            blocks.append(pair_heading(one.pair, request))
            blocks += _maps(one, attention)
    return Section(SectionId.ATTENTION, "Attention", tuple(blocks))


def _maps(explained: Explained, attention: AttentionMaps) -> Iterator[Block]:
    table, device = explained.table, explained.pair.target.device
    operators = slowest(table, _MAX_OPERATORS)
    metrics = _top_metrics(attention, table)
    labels = tuple(token_label(attention.metrics[metric], device) for metric in metrics)
    names = tuple(shown(table.names[index]) for index in operators)
    meaning = (
        "The number is estimated, so the weights are shares of time: of an operator's, by the "
        "rate that it waits for; of a rate's, by operator."
        if attention.is_time
        else f"What operators heard from facts weighs {significant(attention.blend)} beside what "
        f"facts heard from operators; attention weighs {significant(attention.residual)} beside "
        "an operator's own state. Attention shows what the network read; it does not prove what "
        "takes the time."
    )
    yield Paragraph(
        f"Shown are the {plural(len(operators), 'slowest operator')} of {len(table.names)} and "
        f"{len(metrics)} of {len(attention.metrics)} facts, those that weigh most first. {meaning}"
    )
    for title, weights in (
        (_READ_BY_OPERATORS, attention.operator_to_metric),
        (_READ_BY_FACTS, attention.metric_to_operator.T),
    ):
        # [operators, metrics]; the second map is [metrics, operators], so it comes transposed.
        shares = weights[np.ix_(operators, metrics)].tolist()
        yield HeatMap(
            title=title,
            row_title="Operator",
            rows=names,
            columns=labels,
            values=tuple(map(tuple, shares)),
        )


def _top_metrics(attention: AttentionMaps, table: OperatorTable) -> list[int]:
    """Return the facts that weigh most, operators counted by their share of the time."""
    weight = table.share @ attention.operator_to_metric
    order = np.argsort(-weight, kind="stable")[:_MAX_METRICS]
    return [int(metric) for metric in order.tolist()]
