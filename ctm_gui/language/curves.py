"""Numbers of a device along one count of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from ctm_gui.widgets.ordering import FloatArray
from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.core.units import GIB
from predictor.presentation.wording import number, shown
from predictor.services.generation.generate import generate
from predictor.services.generation.probes import DecodeProbe
from predictor.services.generation.records import Generation, GenerationRequest, MeasuredRate
from predictor.services.models.language import LanguageModel
from predictor.services.serving.records import Load
from predictor.services.serving.serve import Measured, first_token_curve

_POINTS: Final = 24
_MAX_BATCH: Final = 64
_WHOLE: Final = 100  # counts from which no decimals are read


class Along(StrEnum):
    """A curve: what it shows over which count."""

    CONTEXT = "Tokens/s over context"
    PROMPT = "First token over prompt"
    BATCH = "Tokens/s over sequences"
    MEMORY = "Memory over context"
    RATE = "First token over requests/s"


TITLES: Final = {
    Along.CONTEXT: ("Tokens in the cache", "Tokens a second"),
    Along.PROMPT: ("Tokens of the prompt", "First token (ms)"),
    Along.BATCH: ("Sequences at once", "Tokens a second"),
    Along.MEMORY: ("Tokens in the cache", "Memory (GiB)"),
    Along.RATE: ("Requests a second", "First token, 90 % within (ms)"),
}
"""Titles of the axes: across, up."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Curve:
    """Numbers of one device along one count.

    Attributes:
        name: of the device.
        along: the count.
        at: its values, float64 [P].
        median, low, high: float64 [P]; of a memory all the same.
        now: the count of the present run.
        limit: memory that the device gives in GiB, or the limit of the first token in ms.
    """

    name: str
    along: Along
    at: FloatArray
    median: FloatArray
    low: FloatArray
    high: FloatArray
    now: float
    limit: float | None = None

    def words(self, place: int) -> str:
        """Return the numbers at a place of the curve."""
        across, up = TITLES[self.along]
        text = (
            f"{self.name}\n{across}: {_count(self.at[place])}\n{up}: {number(self.median[place])}"
        )
        if self.along is Along.MEMORY:
            return text if self.limit is None else f"{text} of {number(self.limit)}"
        return f"{text}, 80 % interval {number(self.low[place])} to {number(self.high[place])}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= _WHOLE else number(value)


def rate_curve(
    model: LanguageModel,
    device: Device,
    load: Load,
    measured: Sequence[MeasuredRate],
    probes: Sequence[DecodeProbe],
) -> Curve | None:
    """Return the first token of a device over the requests a second; None where it has none."""
    try:
        points = first_token_curve(
            model.architecture, device, load, Measured(measured, probes), model.stored
        )
    except InputError:
        return None
    if not points:
        return None
    low, median, high = np.array([(b.low, b.median, b.high) for _, b in points]).T
    at = np.array([rate for rate, _ in points])
    return Curve(
        name=shown(device.name),
        along=Along.RATE,
        at=at,
        median=median,
        low=low,
        high=high,
        now=load.rate_per_s,
        limit=load.limits.first_ms,
    )


def curve_of(
    model: LanguageModel,
    device: Device,
    request: GenerationRequest,
    along: Along,
    measured: Sequence[MeasuredRate],
    probes: Sequence[DecodeProbe],
) -> Curve | None:
    """Return the numbers of a device along a count; None where it has none."""
    counts, runs, now = _runs(model.architecture.max_context, request, along)
    try:
        points = [
            generate(model.architecture, [device], run, measured, probes, model.stored)[0]
            for run in runs
        ]
    except InputError:
        return None
    at = np.array(counts, np.float64)
    name = shown(device.name)
    if along is Along.MEMORY:
        memory_gib = np.array([point.memory.total / GIB for point in points])
        usable = points[0].usable
        return Curve(
            name=name,
            along=along,
            at=at,
            median=memory_gib,
            low=memory_gib,
            high=memory_gib,
            now=now,
            limit=usable and usable.bytes / GIB,
        )
    numbers = [_numbers(point, along) for point in points]
    if any(row is None for row in numbers):
        return None
    low, median, high = np.array(numbers, np.float64).T
    return Curve(name=name, along=along, at=at, median=median, low=low, high=high, now=now)


def _runs(
    longest: int, request: GenerationRequest, along: Along
) -> tuple[list[int], list[GenerationRequest], int]:
    """Return the counts of a curve, the run at each, and the count of the present run."""
    if along is Along.BATCH:
        counts = [n for n in range(1, _MAX_BATCH + 1) if n & (n - 1) == 0]
        return counts, [replace(request, batch=n) for n in counts], request.batch
    if along is Along.PROMPT:
        counts = _steps(longest - request.new)
        return counts, [replace(request, prompt=n, context=0) for n in counts], request.prompt
    counts = _steps(longest)
    now = request.longest if along is Along.MEMORY else request.depth
    return counts, [replace(request, context=n, prompt=1, new=0) for n in counts], now


def _steps(highest: int) -> list[int]:
    """Return counts up to ``highest``, each some larger than the one before."""
    counts = np.geomspace(min(16, max(highest, 1)), max(highest, 1), _POINTS).round().astype(int)
    return sorted(set(counts.tolist()))


def _numbers(point: Generation, along: Along) -> tuple[float, float, float] | None:
    """Return low, median and high of a point; None without a number."""
    if along is Along.PROMPT:
        time = point.first_token
        return None if time is None else (time.low, time.median, time.high)
    time = point.token
    if time is None:
        return None
    tokens = 1000 * point.request.batch
    return tokens / time.high, tokens / time.median, tokens / time.low
