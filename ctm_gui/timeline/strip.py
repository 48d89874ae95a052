"""The timeline without widgets: rows, what of them is in view, and words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ctm_gui.operators.rows import operator_details, operator_unit
from ctm_gui.prediction.explanation import Explained
from ctm_gui.widgets.ordering import FloatArray, IndexArray
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import latency_text, percent, shown
from predictor.services.prediction.explain import BOUND_TYPES
from predictor.services.prediction.timeline import LANES, Module

# Least heights of rows, and how many times as high they grow where there is room.
_MODULE_PX, _OPERATORS_PX, _LANE_PX, _GAP_PX = 20, 36, 16, 3
_MODULE_GROWTH, _GROWTH = 1.5, 4.0
_MAX_DEPTH: Final = 4  # levels of modules that are shown, the outermost


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the strip: its name, and its top and height in pixels."""

    name: str
    top_px: int
    height_px: int


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """What a row shows: bars that are wide enough, and the others as columns of pixels.

    Attributes:
        operators: intp [K], those with a bar of their own.
        left_px, right_px: float64 [K].
        columns: intp [C], pixels that hold narrower operators.
        bound: intp [C], index in ``BOUND_TYPES`` of what binds most of their time.
    """

    operators: IndexArray
    left_px: FloatArray
    right_px: FloatArray
    columns: IndexArray
    bound: IndexArray


def module_forms(module: Module) -> Iterator[str]:
    """Yield a module's name, and its number alone where it has one: ``layer1.0``, ``.0``."""
    name = shown(module.path[-1])
    yield name
    _, dot, number = name.rpartition(".")
    if number.isdigit():
        yield dot + number


class Strip:
    """Rows of an explained pair: modules, operators and the lanes of their parts.

    Args:
        explained: the pair, N operators.
    """

    def __init__(self, explained: Explained) -> None:
        self.explained = explained
        self.timeline = explained.timeline
        self._growth = 1.0
        self._depth_limit = _MAX_DEPTH
        self._bars: dict[int, tuple[tuple[object, ...], Bars]] = {}  # of each row, with its view

    @property
    def depth(self) -> int:
        """Levels of modules that are shown."""
        return min(self.timeline.depth, self._depth_limit)

    def fit(self, height_px: float) -> None:
        """Let the rows grow into a height, up to one beyond which they would say no more.

        Where it is low, the innermost levels of modules are left out.
        """
        lanes_px = _OPERATORS_PX + len(LANES) * _LANE_PX
        room_px = height_px - lanes_px - (len(LANES) + 2) * _GAP_PX
        self._depth_limit = min(max(int(room_px // (_MODULE_PX + _GAP_PX)), 1), _MAX_DEPTH)
        modules = self.depth * _MODULE_PX
        room = height_px - (self.depth + len(LANES) + 2) * _GAP_PX
        growth = room / (modules + lanes_px)
        if growth > _MODULE_GROWTH:
            growth = (room - _MODULE_GROWTH * modules) / lanes_px
        self._growth = min(max(growth, 1.0), _GROWTH)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every row from the top down, as high as they have grown."""
        return self._rows(self._growth, self.depth)

    @property
    def heights_px(self) -> tuple[int, int]:
        """Pixels of all rows together, at least and at most."""
        depth = self.timeline.depth
        lowest = self._rows(1.0, min(depth, 1))[-1]
        highest = self._rows(_GROWTH, min(depth, _MAX_DEPTH))[-1]
        return (
            lowest.top_px + lowest.height_px + _GAP_PX,
            highest.top_px + highest.height_px + _GAP_PX,
        )

    def _rows(self, growth: float, depth: int) -> tuple[Row, ...]:
        module_px = int(_MODULE_PX * min(growth, _MODULE_GROWTH))
        names = [("Modules" if level == 0 else "", module_px) for level in range(depth)]
        lanes = ((lane, int(_LANE_PX * growth)) for lane in LANES)
        names += [("Operators", int(_OPERATORS_PX * growth)), *lanes]
        rows, top = [], _GAP_PX
        for name, height in names:
            rows.append(Row(name, top, height))
            top += height + _GAP_PX
        return tuple(rows)

    def modules_in_view(
        self, level: int, view_ms: tuple[float, float], width_px: float, min_px: float
    ) -> list[tuple[Module, float, float]]:
        """Return the modules of a level with room for ``min_px`` pixels, and their ends in them."""
        scale = width_px / (view_ms[1] - view_ms[0])
        of_level = self.timeline.levels[level]
        ends_px = (of_level.ends_ms - view_ms[0]) * scale
        left, right = np.clip(ends_px, -2.0, width_px + 2.0)
        return [
            (of_level.modules[place], float(left[place]), float(right[place]))
            for place in np.flatnonzero(right - left >= min_px).tolist()
        ]

    @cached_property
    def bound(self) -> IndexArray:
        """Index in ``BOUND_TYPES`` of what binds each operator, intp [N]."""
        return self.explained.table.bounds

    @cached_property
    def timed(self) -> IndexArray:
        """The operators that take time, intp."""
        return np.flatnonzero(self.explained.table.latency_ms > 0)

    def in_view(self, left_ms: float, right_ms: float) -> IndexArray:
        """Return the operators that take time between two times, intp."""
        ends = self.timeline.ends_ms
        first = int(np.searchsorted(ends[1:], left_ms, "right"))
        last = int(np.searchsorted(ends[:-1], right_ms, "left"))
        low, high = np.searchsorted(self.timed, [first, last])
        return self.timed[low:high]

    def bars(self, row: int, view_ms: tuple[float, float], width_px: float, min_px: float) -> Bars:
        """Return what a row of operators or of a lane shows.

        Args:
            row: 0 for the operators, from 1 on for the lanes.
            view_ms: ends of the view.
            width_px: of the view.
            min_px: pixels from which on an operator has a bar of its own.
        """
        key = view_ms, width_px, min_px
        if row not in self._bars or self._bars[row][0] != key:
            self._bars[row] = key, self._worked_out(row, *key)
        return self._bars[row][1]

    def _worked_out(
        self, row: int, view_ms: tuple[float, float], width_px: float, min_px: float
    ) -> Bars:
        visible = self.in_view(*view_ms)
        if row:
            start = self.timeline.lane_start_ms[row - 1][visible]
            time = self.timeline.lane_ms[row - 1][visible]
        else:
            start = self.timeline.ends_ms[visible]
            time = self.explained.table.latency_ms[visible]
        scale = width_px / (view_ms[1] - view_ms[0])
        left, width = (start - view_ms[0]) * scale, time * scale
        wide = np.flatnonzero(width >= min_px)
        ends = np.clip([left[wide], left[wide] + width[wide]], -2.0, width_px + 2.0)
        pixels = np.clip(left + width / 2, 0.0, width_px).astype(np.intp)
        narrow_ms = np.where(width < min_px, time, 0.0)
        columns, bound = self._columns(pixels, self.bound[visible], narrow_ms)
        return Bars(visible[wide], ends[0], ends[1], columns, bound)

    @staticmethod
    def _columns(
        pixels: IndexArray, bound: IndexArray, time_ms: FloatArray
    ) -> tuple[IndexArray, IndexArray]:
        """Return the pixels that take time, and what binds most of the time of each."""
        if not time_ms.any():
            return np.zeros(0, np.intp), np.zeros(0, np.intp)
        kinds = len(BOUND_TYPES)
        sums = np.bincount(pixels * kinds + bound, time_ms)
        sums.resize((-(-sums.size // kinds), kinds), refcheck=False)
        columns = np.flatnonzero(sums.sum(axis=1))
        return columns, sums[columns].argmax(axis=1)

    def operator_at(self, time_ms: float) -> int | None:
        """Return the operator that runs at a time, None outside the model."""
        if not self.timed.size or not 0 <= time_ms <= self.timeline.total_ms:
            return None
        place = int(np.searchsorted(self.timeline.ends_ms[self.timed], time_ms, "right")) - 1
        return int(self.timed[max(place, 0)])

    def module_at(self, level: int, time_ms: float) -> Module | None:
        """Return the module of a level that runs at a time."""
        operator = self.operator_at(time_ms)
        if operator is None:
            return None
        modules = self.timeline.levels[level].modules
        return next((m for m in modules if m.operators[0] <= operator < m.operators[1]), None)

    def row_at(self, y_px: float) -> int | None:
        """Return the index of the row at a height, None between two."""
        for index, row in enumerate(self.rows):
            if row.top_px <= y_px < row.top_px + row.height_px:
                return index
        return None

    def next_operator(self, current: int | None, step: int) -> int | None:
        """Return the operator so many steps after the current one, among those that take time."""
        if not self.timed.size:
            return None
        here = -1 if current is None else int(np.searchsorted(self.timed, current))
        return int(self.timed[min(max(here + step, 0), self.timed.size - 1)])

    def span_ms(self, module: Module) -> tuple[float, float]:
        """Return start and end of a module."""
        first, last = module.operators
        return float(self.timeline.ends_ms[first]), float(self.timeline.ends_ms[last])

    def operators_of(self, module: Module) -> IndexArray:
        """Return the operators of a module that take time, intp."""
        low, high = np.searchsorted(self.timed, module.operators)
        return self.timed[low:high]

    def name(self, operator: int) -> str:
        """Return an operator's name, or its type where it has none."""
        table = self.explained.table
        return shown(table.names[operator] or table.op_types[operator])

    def name_forms(self, operator: int) -> Iterator[str]:
        """Yield an operator's name, its last two parts, and its type."""
        name = self.name(operator)
        yield name
        yield "/".join(name.split("/")[-2:])
        yield shown(self.explained.table.op_types[operator])

    def details(self, operator: int, unit: LatencyUnit) -> str:
        """Return the lines that hovering over an operator shows."""
        explained, display_unit = self.explained, operator_unit(unit)
        lines = operator_details(explained.table, operator, unit, explained.interval)
        parts = [
            f"{lane.lower()} {latency_text(float(times[operator]), display_unit)}"
            for lane, times in zip(LANES, self.timeline.lane_ms, strict=True)
            if times[operator] > 0
        ]
        start = latency_text(float(self.timeline.ends_ms[operator]), display_unit)
        return "\n".join([*lines, f"starts at {start}", ", ".join(parts)])

    def figures(self, operators: IndexArray, unit: LatencyUnit) -> str:
        """Return name, time, start and parts of K operators, K > 0, in one line."""
        display_unit, total = operator_unit(unit), self.timeline.total_ms
        table, first = self.explained.table, int(operators.min())
        name = self.name(first) if operators.size == 1 else plural(operators.size, "operator")
        time_ms = float(table.latency_ms[operators].sum())
        share = f" ({percent(time_ms / total)})" if total else ""
        start = latency_text(float(self.timeline.ends_ms[first]), display_unit)
        parts = [
            f"{lane.lower()} {latency_text(float(times[operators].sum()), display_unit)}"
            for lane, times in zip(LANES, self.timeline.lane_ms, strict=True)
            if times[operators].any()
        ]
        words = [f"{name}: {latency_text(time_ms, display_unit)}{share}", f"starts at {start}"]
        return "; ".join([*words, ", ".join(parts)])

    def module_details(self, module: Module, unit: LatencyUnit) -> str:
        """Return the lines that hovering over a module shows."""
        start, end = self.span_ms(module)
        total = self.timeline.total_ms
        count = self.operators_of(module).size
        share = f", {percent((end - start) / total)} of the model" if total else ""
        return "\n".join(
            [
                shown("/".join(module.path)),
                f"{latency_text(end - start, operator_unit(unit))}{share}",
                plural(count, "operator that takes time", "operators that take time"),
            ]
        )

    def sentence(self, unit: LatencyUnit) -> str:
        """Return the number of operators and their time, with the part of each lane."""
        total, display_unit = self.timeline.total_ms, operator_unit(unit)
        count = plural(self.timed.size, "operator")
        parts = [
            f"{lane.lower()} {latency_text(float(times.sum()), display_unit)}"
            for lane, times in zip(LANES, self.timeline.lane_ms, strict=True)
        ]
        return f"{count} in {latency_text(total, display_unit)}: {', '.join(parts)}"
