"""The Operators view without widgets: facts by operator, filter, time by type, totals in words.

Times are milliseconds unless a name says otherwise. One operator has no rate: where the window
shows FPS, operators are shown in milliseconds.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ctm_gui.attention.grid import looked_at
from ctm_gui.widgets.grid import (
    Column,
    Grid,
    count_column,
    name_column,
    name_ranks,
    number_column,
    place_column,
    search_mask,
    search_texts,
    share_column,
)
from ctm_gui.widgets.ordering import BoolArray, FloatArray, IndexArray, text_ranks
from predictor.core.records import Device
from predictor.core.text import plural
from predictor.core.units import LatencyUnit, format_bytes, format_count
from predictor.presentation.wording import NOTHING, latency_text, number, percent, shape_text, shown
from predictor.services.prediction.attention import AttentionPeak, operators_peak, token_label
from predictor.services.prediction.explain import BOUND_TYPES, OperatorTable

_MAX_TYPES = 6


def operator_unit(unit: LatencyUnit) -> LatencyUnit:
    """Return the unit of operators' times: a rate applies to a whole run only."""
    return LatencyUnit.MS if unit is LatencyUnit.FPS else unit


@dataclass(frozen=True, slots=True)
class OperatorFilter:
    """A choice of operators.

    Attributes:
        search: words that name and type must hold, all of them.
        types: operator types to show; None for all.
        hide_free: leave out operators that take no time of their own: views and fused ones.
    """

    search: str = ""
    types: frozenset[str] | None = None
    hide_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeTime:
    """The time that the operators of one type, or of all the rest, take together.

    Attributes:
        label: the type as shown, or the number of further types.
        types: the types.
        count: number of operators.
        latency_ms: their time together.
        share: their part of the model's time, 0 to 1.
        by_bound_ms: their time by ``BOUND_TYPES``.
    """

    label: str
    types: frozenset[str]
    count: int
    latency_ms: float
    share: float
    by_bound_ms: tuple[float, ...]


class OperatorSummary:
    """An operator table with the columns for search and sums, computed at the first access.

    Args:
        table: N operators of one model on one target.
    """

    def __init__(self, table: OperatorTable) -> None:
        self.table = table

    def __len__(self) -> int:
        return len(self.table.names)

    @cached_property
    def is_free(self) -> BoolArray:
        """Whether each operator is a view or fused into another, and takes no time, bool [N].

        Where the operators of a target were timed, a fused one may have run apart.
        """
        within = np.fromiter((_is_within(flags) for flags in self.table.flags), np.bool_, len(self))
        free: BoolArray = within & ~(self.table.latency_ms > 0)
        return free

    def mask(self, chosen: OperatorFilter) -> BoolArray:
        """Return a mask of the operators that pass the filter, bool [N]."""
        mask = np.ones(len(self), dtype=np.bool_)
        if chosen.search.strip():
            mask &= search_mask(self.search_texts, chosen.search)
        if chosen.types is not None:
            codes, types = self.table.types
            mask &= np.array([kind in chosen.types for kind in types], dtype=np.bool_)[codes]
        if chosen.hide_free:
            mask &= ~self.is_free
        return mask

    @cached_property
    def type_times(self) -> tuple[TypeTime, ...]:
        """The types that take most time, the slowest first, and the rest of them in one."""
        codes, types = self.table.types
        times = self._time_by_bound(codes, len(types))
        counts = np.bincount(codes, minlength=len(types))
        slowest = np.argsort(-times.sum(axis=1), kind="stable")
        timed = int(np.count_nonzero(times.sum(axis=1)))
        # One more type takes no more room than "1 more type" would.
        top = timed if timed <= _MAX_TYPES + 1 else _MAX_TYPES
        slow = [self._type_time([types[i]], counts[[i]], times[[i]]) for i in slowest[:top]]
        rest = slowest[top:]
        if rest.size:
            slow.append(self._type_time([types[i] for i in rest], counts[rest], times[rest]))
        return tuple(slow)

    @cached_property
    def peak(self) -> AttentionPeak | None:
        """The metric that each operator attended to most; None without attention."""
        return operators_peak(self.table.attention)

    @cached_property
    def name_ranks(self) -> FloatArray:
        """Ranks of the operators' names, float64 [N]."""
        return name_ranks(self.table.names)

    @cached_property
    def search_texts(self) -> list[str]:
        """Name and type of each operator in one text, which a search looks through, N of them."""
        return search_texts(self.table.names, self.table.op_types)

    def _time_by_bound(self, codes: IndexArray, types: int) -> FloatArray:
        """Return the time by type and bound type, float64 [types, len(BOUND_TYPES)]."""
        bounds, width = self.table.bounds, len(BOUND_TYPES)
        # One bincount over the pairs (type, bound), then [types * width] to [types, width].
        sums = np.bincount(
            codes * width + bounds, weights=self.table.latency_ms, minlength=types * width
        )
        return sums.astype(np.float64).reshape(types, width)

    def _type_time(self, types: Sequence[str], counts: IndexArray, times: FloatArray) -> TypeTime:
        latency_ms = float(times.sum())
        total = float(self.table.latency_ms.sum())
        rest = "more type" if latency_ms else "type without cost"
        rests = "" if latency_ms else "types without cost"
        label = shown(types[0]) if len(types) == 1 else plural(len(types), rest, rests)
        return TypeTime(
            label=label,
            types=frozenset(types),
            count=int(counts.sum()),
            latency_ms=latency_ms,
            share=latency_ms / total if total > 0 else 0.0,
            by_bound_ms=tuple(float(part) for part in times.sum(axis=0)),
        )


def _is_within(flags: str) -> bool:
    return flags.startswith("fused into ") or "view" in flags.split(", ")


def cumulative_share(share: FloatArray, order: IndexArray) -> FloatArray:
    """Return the shares added up in the order shown.

    Args:
        share: float64 [N].
        order: rows shown, in their order.

    Returns:
        float64 [N], by row; NaN for a row that is not shown.
    """
    sums = np.full(share.size, np.nan)
    sums[order] = np.cumsum(share[order])
    return sums


def totals(table: OperatorTable, order: IndexArray, unit: LatencyUnit) -> str:
    """Return the totals of the whole model and of the operators shown, in one line."""
    count = len(table.names)
    line = f"{_operators(count)}: {_sums(table, np.arange(count), unit)}"
    if order.size == count:
        return line
    share = float(table.share[order].sum())
    chosen = f"{_operators(order.size)}, {_sums(table, order, unit)}"
    return f"{line}  |  shown: {chosen} ({percent(share)})"


def _operators(count: int) -> str:
    return plural(count, "operator")


def _sums(table: OperatorTable, rows: IndexArray, unit: LatencyUnit) -> str:
    latency = latency_text(float(table.latency_ms[rows].sum()), operator_unit(unit))
    # No line break between a number and its unit.
    macs = format_count(int(table.macs[rows].sum())).replace(" ", "\N{NO-BREAK SPACE}")
    traffic = format_bytes(int(table.bytes_moved[rows].sum())).replace(" ", "\N{NO-BREAK SPACE}")
    return f"{latency}, {macs} MACs, {traffic} moved"


def type_details(time: TypeTime, unit: LatencyUnit) -> str:
    """Return the lines that hovering over a type's bar shows, as plain text."""
    display_unit = operator_unit(unit)
    lines = [
        f"{time.label}: {_operators(time.count)}",
        f"{latency_text(time.latency_ms, display_unit)}, {percent(time.share)} of the model",
    ]
    lines += [
        f"bound by {bound}: {latency_text(part, display_unit)}"
        for bound, part in zip(BOUND_TYPES, time.by_bound_ms, strict=True)
        if part > 0
    ]
    return "\n".join(lines)


SHARE = "share"
_CUMULATIVE_HELP = (
    "Shares added up from the top, in the order shown and over the operators shown. "
    "Sorting by it sorts by share."
)


class OperatorsGrid(Grid):
    """The operator table.

    Args:
        summary: N operators.
        unit: of the times; a rate is shown in milliseconds.
        device: of the target; with it, the operators' attention has a column.
    """

    def __init__(
        self, summary: OperatorSummary, unit: LatencyUnit, device: Device | None = None
    ) -> None:
        self.table = table = summary.table
        self._summary = summary
        self._device = device
        self._unit = operator_unit(unit)
        self._cumulative: FloatArray | None = None
        super().__init__(len(table.names), self._all())

    @cached_property
    def _largest_share(self) -> float:
        return float(self.table.share.max(initial=0.0))

    def bar_length(self, position: int) -> float:
        """Return the share at a position over the largest one: the filled part of its cell."""
        share = float(self.table.share[self.source(position)])
        has_bar = self._largest_share > 0 and math.isfinite(share)
        return share / self._largest_share if has_bar else 0.0

    def bound_at(self, position: int) -> int:
        """Return the index in ``BOUND_TYPES`` of what binds the operator at a position."""
        bound = self.table.bound_type[self.source(position)]
        return BOUND_TYPES.index(bound) if bound in BOUND_TYPES else 0

    def _refresh(self) -> None:
        super()._refresh()
        self._cumulative = None

    @property
    def cumulative(self) -> FloatArray:
        """Shares added up in the order shown, float64 [N] by row."""
        if self._cumulative is None:
            self._cumulative = cumulative_share(self.table.share, self.order)
        return self._cumulative

    def _all(self) -> list[Column]:
        table, summary = self.table, self._summary
        scale = self._unit.from_ms(1.0)
        # A column that held the grid would keep it until the garbage is collected.
        grid = weakref.proxy(self)
        cumulative = share_column(
            "cumulative", "Cumulative", lambda: grid.cumulative, _CUMULATIVE_HELP
        )
        return [
            place_column(len(table.names)),
            name_column("name", "Name", table.names, lambda: summary.name_ranks),
            number_column("latency", f"Latency ({self._unit})", table.latency_ms * scale),
            share_column(SHARE, "Share", lambda: table.share),
            replace(cumulative, sort_keys=lambda: table.share),
            name_column("bound", "Bound by", table.bound_type),
            name_column("type", "Type", table.op_types),
            self._shape(),
            count_column("macs", "MACs", table.macs),
            count_column("bytes", "Bytes", table.bytes_moved, format_bytes),
            count_column("weights", "Weights", table.weight_bytes, format_bytes),
            *self._looks(),
            name_column("flags", "Flags", table.flags),
        ]

    def _looks(self) -> list[Column]:
        table, peak = self.table, self._summary.peak
        if peak is None or table.attention is None or self._device is None:
            return []
        labels = [token_label(name, self._device) for name in table.attention.metrics]
        ranks = text_ranks(labels)

        def text(row: int) -> str:
            at = looked_at(peak, row, labels)
            return at if peak.even[row] else f"{at} ({percent(float(peak.share[row]))})"

        return [
            Column(
                key="looks",
                title="Most sensitive to",
                text=text,
                # Metric by metric, the strongest first.
                sort_keys=lambda: ranks[peak.at] - peak.share / 2,
                help="The metric of the device that the operator attends to most.",
            )
        ]

    def _shape(self) -> Column:
        shapes = self.table.output_shapes

        def elements() -> FloatArray:
            return np.fromiter(
                (float(math.prod(shape)) for shape in shapes), np.float64, len(shapes)
            )

        return Column(
            key="shape",
            title="Output shape",
            text=lambda row: shape_text(shapes[row]),
            sort_keys=elements,
            help="Of the first output. Sorted by the number of elements.",
        )


def operator_details(
    table: OperatorTable, operator: int, unit: LatencyUnit, interval: tuple[float, float] | None
) -> list[str]:
    """Return name, shape, work and time of an operator, as plain text.

    Args:
        table: the operators.
        operator: its index.
        unit: of the time; milliseconds where it is a rate.
        interval: ends of the model's 80 % interval over its latency; None without one.
    """
    display_unit, latency_ms = operator_unit(unit), float(table.latency_ms[operator])
    kind = shown(table.op_types[operator])
    if table.output_shapes[operator]:
        kind += f", output {shape_text(table.output_shapes[operator])}"
    macs, traffic = int(table.macs[operator]), int(table.bytes_moved[operator])
    share = percent(float(table.share[operator]))
    lines = [
        shown(table.names[operator]) or kind,
        kind,
        f"{format_count(macs)} MACs, {format_bytes(traffic)} moved",
        f"{latency_text(latency_ms, display_unit)}, {share} of the model",
    ]
    if interval is not None and latency_ms:
        low, high = (number(display_unit.from_ms(latency_ms * end)) for end in interval)
        # Errors of the operators of one model go together; none is known apart.
        lines.append(f"{low} to {high} {display_unit} by the model's 80 % interval")
    if table.bound_type[operator] != NOTHING:
        lines.append(f"bound by {table.bound_type[operator]}")
    return lines
