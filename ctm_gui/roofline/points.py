"""The roofline without widgets: places of operators, roofs and their names, and words.

Places are log10 of FLOPs a byte and of FLOP/s, of operations of any kind where a rate of integers
is among the roofs. An operator without multiplications has no intensity: it stands in a lane of its
own at the right of the axis, as far under the memory's line there as it is under its bandwidth.
The roofs drawn are those that the engine divides work by, and those that were measured beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QTransform

from ctm_gui.operators.rows import operator_details
from ctm_gui.prediction.explanation import Explained
from ctm_gui.widgets.ordering import BoolArray, FloatArray, IndexArray
from predictor.core.text import plural, uncapitalised
from predictor.core.units import LatencyUnit, format_bytes, format_count
from predictor.presentation.wording import number, percent, shown
from predictor.services.prediction.explain import BOUND_TYPES
from predictor.services.prediction.roofline import BOUND, NO_ROOF, Roof, Roofline

MIN_PX, MAX_PX = 5.0, 22.0
SIZES: Final = 8
LANE: Final = 0.5  # decades of the lane at the right of the axis
_MARGIN: Final = 0.35  # decades
_MIN_SPAN: Final = 2.0  # decades


@dataclass(frozen=True, slots=True)
class RoofLine:
    """A roof as a line from its left to its right end.

    Attributes:
        roof: the rate.
        label: its name, rate and origin, those of another target with that one's name.
        target: 0 for the explained target, from 1 on for the others.
        x: log10 of FLOPs a byte at both ends.
        y: log10 of FLOP/s at both ends.
    """

    roof: Roof
    label: str
    target: int
    x: tuple[float, float]
    y: tuple[float, float]


class RooflinePoints:
    """Operators and roofs of an explained pair.

    Args:
        explained: the pair, N operators.
        roofline: its own.
        all_targets: whether the roofs of other targets are shown too.
    """

    def __init__(
        self, explained: Explained, roofline: Roofline, *, all_targets: bool = True
    ) -> None:
        self.explained, self.roofline = explained, roofline
        self._compared = explained.other_roofs if all_targets else ()

    @property
    def names(self) -> tuple[str, ...]:
        """The targets whose roofs there are, the explained one first."""
        return tuple(
            shown(name) for name in (self.explained.target, *(n for n, _ in self._compared))
        )

    @property
    def operation(self) -> str:
        """What the axes count: ``FLOP``, or ``OP`` with a rate of integers among the own roofs."""
        return self.roofline.operation

    @cached_property
    def has_macs(self) -> BoolArray:
        """Whether each operator has an intensity, bool [N]."""
        return self.roofline.intensity > 0

    @cached_property
    def is_placed(self) -> BoolArray:
        """Whether each operator is on the plot: it takes time and moves data, bool [N]."""
        moves = np.nan_to_num(self.roofline.bytes_per_s) > 0
        placed: BoolArray = np.isfinite(self.roofline.intensity) & moves
        return placed

    @cached_property
    def axis_end(self) -> float:
        """End of the axis of intensity; the lane stands behind it."""
        return self._intensities[1]

    @cached_property
    def x_range(self) -> tuple[float, float]:
        """Ends of the plot across: of the axis of intensity, and of the lane."""
        low, high = self._intensities
        return low, high + LANE * self.has_lane

    @cached_property
    def has_lane(self) -> bool:
        """Whether an operator without multiplications is on the plot."""
        return bool((self.is_placed & ~self.has_macs).any())

    @cached_property
    def lane_y(self) -> float:
        """Place of the memory's rate in the lane, as high as its roof ends."""
        ends = [line.y[1] for line in self.lines if line.roof.is_memory and not line.target]
        return max(ends, default=self._highest)

    @cached_property
    def _highest(self) -> float:
        rates = [roof.rate for roofs in self._roofs() for roof in roofs if not roof.is_memory]
        return math.log10(max(rates, default=1.0))

    @cached_property
    def _intensities(self) -> tuple[float, float]:
        intensity = self.roofline.intensity
        marks = [*_extremes(intensity[self.is_placed & self.has_macs]), *self._ridges()]
        return _ends(np.log10(marks) if marks else np.zeros(1))

    @cached_property
    def y_range(self) -> tuple[float, float]:
        """Ends of the axis of rates."""
        rates = [roof.rate for roofs in self._roofs() for roof in roofs if not roof.is_memory]
        highest = [self._of_memory[1]] if self._of_memory is not None else []
        marks = np.array([*_extremes(self.y[self.is_placed]), *np.log10(rates), *highest])
        return _ends(marks if marks.size else np.zeros(1))

    @cached_property
    def x(self) -> FloatArray:
        """Place of each operator across, float64 [N]; NaN for one that is not placed."""
        with np.errstate(divide="ignore"):
            logs = np.log10(self.roofline.intensity)
        places = np.where(self.has_macs, logs, self.axis_end + LANE / 2)
        return np.where(self.is_placed, places, np.nan)

    @cached_property
    def y(self) -> FloatArray:
        """Place of each operator upwards, float64 [N]; NaN for one that is not placed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            lane = self.lane_y + np.log10(self.roofline.bytes_per_s / self._memory)
            places = np.where(self.has_macs, np.log10(self.roofline.flops_per_s), lane)
        return np.where(self.is_placed, places, np.nan)

    @property
    def _memory(self) -> float:
        """Rate of the memory in use, bytes a second; the highest that is reached without one."""
        rates = [roof.rate for roof in self.roofline.roofs if roof.is_memory and roof.in_use]
        reached = self.roofline.bytes_per_s[self.is_placed]
        return max(rates, default=float(reached.max(initial=1.0)))

    @cached_property
    def _of_memory(self) -> tuple[float, float] | None:
        """Right end of a memory's roof over the operators that it holds; None without any."""
        places = np.array([*(r.is_memory for r in self.roofline.roofs), False])
        there = np.flatnonzero(places[self.roofline.roof_of] & self.is_placed & self.has_macs)
        if not there.size:
            return None
        x = float(np.log10(self.roofline.intensity[there].max()))
        return x, math.log10(self._memory) + x

    @property
    def memory_extension(self) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """Ends of the memory's roof right of its ridge, as far as it holds operators there.

        Their kernels reach so much less of the memory than of the arithmetic that traffic takes
        the longer time.
        """
        lines = [line for line in self.lines if line.roof.is_memory and line.roof.in_use]
        line = next((line for line in lines if not line.target), None)
        end = self._of_memory
        if line is None or end is None or end[0] <= line.x[1]:
            return None
        return (line.x[1], line.y[1]), end

    def roof_y(self, operator: int) -> float | None:
        """Return the place upwards of the roof that holds an operator, over it; None for none."""
        place = int(self.roofline.roof_of[operator])
        if place == NO_ROOF or not self.is_placed[operator]:
            return None
        return float(self.y[operator] - math.log10(self.roofline.reached[operator]))

    def reach_text(self, operator: int) -> str:
        """Write what an operator reaches of its roof: ``47 % of memory bandwidth``."""
        roof = self.roofline.roofs[int(self.roofline.roof_of[operator])]
        part = percent(float(self.roofline.reached[operator]), 2)
        return f"{part} of {uncapitalised(shown(roof.label))}"

    @cached_property
    def bound(self) -> IndexArray:
        """Index in ``BOUND_TYPES`` of what binds each operator, intp [N]."""
        return self.explained.table.bounds

    @cached_property
    def size(self) -> IndexArray:
        """Step of each operator's size by its time, 0 to ``SIZES`` - 1, intp [N]."""
        share = self.explained.table.share
        part = np.sqrt(share / max(float(share.max(initial=0.0)), 1e-12))
        return np.minimum((part * SIZES).astype(np.intp), SIZES - 1)

    @cached_property
    def alike(self) -> tuple[tuple[int, int, IndexArray], ...]:
        """Kind of bound, size and operators, intp [K], of the points of each look, largest first.

        Of one size those that are bound by the later kinds are painted over the others.
        """
        looks = np.where(self.is_placed, self.size * len(BOUND_TYPES) + self.bound, -1)
        order = np.argsort(looks.astype(np.int16), kind="stable")  # by radix: short numbers
        starts = np.searchsorted(looks[order], np.arange(SIZES * len(BOUND_TYPES) + 1))
        parts = {
            (size, bound): order[slice(*starts[size * len(BOUND_TYPES) + bound :][:2])]
            for size in reversed(range(SIZES))
            for bound in range(len(BOUND_TYPES))
        }
        return tuple((bound, size, part) for (size, bound), part in parts.items() if part.size)

    @cached_property
    def bounds(self) -> tuple[int, ...]:
        """The kinds of bound that there are points of."""
        return tuple(sorted({bound for bound, _, _ in self.alike}))

    @cached_property
    def lines(self) -> tuple[RoofLine, ...]:
        """Every roof as a line; those of other targets last."""
        return tuple(
            self._line(roof, roofs, target)
            for target, roofs in enumerate(self._roofs())
            for roof in roofs
        )

    def sentence(self) -> str:
        """Return the number of operators, how they are bound, and what stands at the edge."""
        placed, table = self.is_placed, self.explained.table
        shares = [float(table.share[placed & (self.bound == k)].sum()) for k in range(3)]
        words = [
            f"{percent(share, 2)} by {bound}"
            for bound, share in zip(BOUND_TYPES, shares, strict=True)
            if share
        ]
        parts = [f"Time bound {', '.join(words)}"] if words else []
        edge = int((placed & ~self.has_macs).sum())
        if edge:
            parts.append(f"{plural(edge, 'operator')} without multiplications at the right")
        return "; ".join(parts)

    def details(self, operator: int, unit: LatencyUnit) -> str:
        """Return the lines that hovering over an operator shows."""
        explained = self.explained
        lines = operator_details(explained.table, operator, unit, explained.interval)
        bandwidth = format_bytes(float(self.roofline.bytes_per_s[operator]))
        if self.has_macs[operator]:
            reached = float(self.roofline.flops_per_s[operator])
            intensity, of = float(self.roofline.intensity[operator]), self.operation
            lines.append(f"{number(intensity)} {of} a byte, reaches {rate_text(reached, of)}")
        else:
            lines.append(f"reaches {bandwidth}/s; it multiplies nothing")
        if self.roofline.roof_of[operator] != NO_ROOF:
            above = self.roofline.reached[operator] > 1 + 1e-6
            why = ": data from caches, or a fast algorithm" if above else ""
            lines.append(f"{self.reach_text(operator)}{why}")
        return "\n".join(lines)

    def line_details(self, line: RoofLine) -> str:
        """Return the lines that hovering over a roof shows."""
        words = [line.label, line.roof.source]
        return "\n".join(shown(word, 200) for word in words if word)

    def _roofs(self) -> list[tuple[Roof, ...]]:
        drawn = tuple(roof for roof in self.roofline.roofs if roof.origin != BOUND)
        return [drawn, *(_highest(roofs) for _, roofs in self._compared)]

    def _ridges(self) -> list[float]:
        """Return the intensities at which the roofs of each target meet."""
        ridges = []
        for roofs in self._roofs():
            memories = [roof.rate for roof in roofs if roof.is_memory]
            peaks = [roof.rate for roof in roofs if not roof.is_memory]
            ridges += [max(peaks) / min(memories)] if memories and peaks else []
        return ridges

    def _line(self, roof: Roof, roofs: tuple[Roof, ...], target: int) -> RoofLine:
        (left, right), height = self._intensities, math.log10(roof.rate)
        opposite = [other for other in roofs if other.is_memory is not roof.is_memory]
        # What was measured ends where the measured ones meet, as far as there are any.
        alike = [other for other in opposite if other.in_use is roof.in_use]
        crossing = [other.rate for other in alike or opposite]
        whose = f"{shown(self._compared[target - 1][0])}: " if target else ""
        counted = roof.counted
        label = f"{whose}{roof.label} {rate_text(roof.rate, counted)}"
        if roof.origin not in roof.label.lower():
            label += f", {roof.origin}"
        if roof.is_memory:
            end = math.log10(max(crossing)) - height if crossing else right
            return RoofLine(roof, label, target, (left, end), (left + height, end + height))
        start = height - math.log10(max(crossing)) if crossing else left
        return RoofLine(roof, label, target, (start, right), (height, height))


def rate_text(rate: float, counted: str) -> str:
    """Write a rate of what is counted: ``307 GFLOP/s``, ``26 TOP/s``, ``17.1 GB/s``."""
    text = format_count(rate)
    # A prefix stands after the number, and before its unit without a space.
    return f"{text}{counted}/s" if text[-1:].isalpha() else f"{text} {counted}/s"


def _highest(roofs: tuple[Roof, ...]) -> tuple[Roof, ...]:
    """Return the highest memory and the highest arithmetic roof of a target, of those in use."""
    highest = []
    for is_memory in (True, False):
        of_kind = [r for r in roofs if r.is_memory is is_memory and r.in_use]
        highest += [max(of_kind, key=lambda roof: roof.rate)] if of_kind else []
    return tuple(highest)


def _extremes(values: FloatArray) -> tuple[float, ...]:
    """Return the least and the largest value; nothing without any."""
    return (float(values.min()), float(values.max())) if values.size else ()


def _ends(logs: FloatArray) -> tuple[float, float]:
    low, high = float(logs.min()) - _MARGIN, float(logs.max()) + _MARGIN
    short = max(_MIN_SPAN - (high - low), 0.0)
    return low - short / 2, high + short / 2


GAP_PX = 4.0
_MAX_POINTS, _STEPS = 400, 64


def label_places(line: RoofLine, px: QLineF, room: QRectF) -> Iterator[QTransform]:
    """Yield places for a label on its line, the better ones first: a memory's rises with it.

    Args:
        line: the roof.
        px: the same in pixels.
        room: of the label, its upper left corner at 0.
    """
    above, below = -room.height() - 2, 2.0
    if not line.roof.is_memory:
        for step in range(12):
            x = px.x2() - GAP_PX - step * 0.08 * px.length() - room.width()
            yield QTransform.fromTranslate(x, px.y1() + above)
            yield QTransform.fromTranslate(x, px.y1() + below)
        return
    for place in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8):
        for side in (above, below):
            at = px.pointAt(place)
            turned = QTransform.fromTranslate(at.x(), at.y()).rotate(-px.angle())
            yield turned.translate(-room.width() / 2, side)


class Crowd:
    """Points and lines that names keep off.

    Args:
        pixels: places of points, float64 [N, 2]; NaN for one that is not shown.
        lines: all roofs.
    """

    def __init__(self, pixels: FloatArray, lines: Sequence[QLineF]) -> None:
        finite = pixels[np.isfinite(pixels[:, 0]) & np.isfinite(pixels[:, 1])]
        # Some hundred show where there is room: all of 10 000 would take 50 ms.
        self._points = finite[:: 1 + len(finite) // _MAX_POINTS]
        ends = np.array([[[x.x1(), x.y1()], [x.x2(), x.y2()]] for x in lines]).reshape(-1, 2, 2)
        steps = np.linspace(0.0, 1.0, _STEPS)[:, None]
        # float64 [lines, steps, 2].
        self._lines = ends[:, :1] + steps * (ends[:, 1:] - ends[:, :1])

    def freest(self, room: QRectF, places: Iterable[QTransform]) -> QTransform | None:
        """Return the first place where a rectangle lies on the fewest points and lines."""
        best, fewest = None, math.inf
        for place in places:
            under = self.under(room, place)
            if under < fewest:
                best, fewest = place, under
            if not under:
                break
        return best

    def under(self, room: QRectF, place: QTransform) -> int:
        """Return how many points and lines a rectangle would lie on at a place."""
        back, _ = place.inverted()
        points = _inside(self._points, back, room, MAX_PX / 2)
        lines = _inside(self._lines, back, room, 0.0).any(axis=1)
        return int(points.sum()) + int(lines.sum())


def _inside(places: FloatArray, turn: QTransform, room: QRectF, reach: float) -> BoolArray:
    """Return whether each place, float64 [..., 2], is turned into a rectangle or near it."""
    matrix = np.array([[turn.m11(), turn.m12()], [turn.m21(), turn.m22()]])
    x, y = np.moveaxis(places @ matrix + (turn.dx(), turn.dy()), -1, 0)
    around = room.adjusted(-reach, -reach, reach, reach)
    inside: BoolArray = (
        (x > around.left()) & (x < around.right()) & (y > around.top()) & (y < around.bottom())
    )
    return inside
