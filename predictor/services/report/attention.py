"""What the network attended to: which facts of the device an operator's time was read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from predictor.core.report import Block, HeatMap, Paragraph, Section, SectionId
from predictor.core.text import plural
from predictor.core.units import significant
from predictor.core.wording import shown
from predictor.services.prediction.attention import AttentionMaps, token_label
from predictor.services.prediction.predict import OperatorTable
from predictor.services.report.operators import Explained, pair_heading, slowest
from predictor.services.report.request import ReportRequest

_OPERATORS_SHOWN = 18
_METRICS_SHOWN = 14


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
    operators = slowest(table, _OPERATORS_SHOWN)
    metrics = _most_attended(attention, table)
    labels = tuple(token_label(attention.metrics[metric], device) for metric in metrics)
    names = tuple(shown(table.names[index]) for index in operators)
    yield Paragraph(
        f"Shown are the {plural(len(operators), 'slowest operator')} of {len(table.names)} and "
        f"{len(metrics)} of {len(attention.metrics)} facts, those that weigh most first. "
        f"What operators heard from facts weighs {significant(attention.blend)} beside what facts "
        f"heard from operators; attention weighs {significant(attention.residual)} beside an "
        "operator's own state. Attention tells what the network looked at; it does not prove what "
        "takes the time."
    )
    heard = attention.operator_to_metric[np.ix_(operators, metrics)]
    yield HeatMap(
        "What each operator reads of the device: an operator's row sums to 100 % over all facts",
        "Operator",
        names,
        labels,
        _shares(heard),
    )
    read = attention.metric_to_operator.T[np.ix_(operators, metrics)]
    yield HeatMap(
        "What each fact reads of the model: a fact's column sums to 100 % over all operators",
        "Operator",
        names,
        labels,
        _shares(read),
    )


def _most_attended(attention: AttentionMaps, table: OperatorTable) -> list[int]:
    """Return the facts that weigh most, operators counted by their share of the time."""
    weight = table.share @ attention.operator_to_metric
    order = np.argsort(-weight, kind="stable")[:_METRICS_SHOWN]
    return [int(metric) for metric in order.tolist()]


def _shares(values: NDArray[np.float32]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in values.tolist())
