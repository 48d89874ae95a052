"""A language model's devices without widgets: their table, the bars of their parts, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ctm_gui.widgets.grid import Grid, number_column, text_column
from predictor.core.text import capitalised, plural
from predictor.core.units import GIB
from predictor.presentation.wording import NOTHING, memory_text, number, percent, shown
from predictor.services.generation.records import Generation, MeasuredRate


class DevicesGrid(Grid):
    """A row a device.

    Args:
        results: the rows.
        measured: the user's own rates by the device's id.
    """

    def __init__(
        self, results: Sequence[Generation] = (), measured: Mapping[str, MeasuredRate] | None = None
    ) -> None:
        rates = measured or {}
        first = [result.first_token for result in results]
        joules = [result.joules_per_token for result in results]
        low, high, bounds = ([_per_s(e, end) for e in results] for end in ("high", "low", "bound"))
        ends = list(map(_ends, low, high))
        super().__init__(
            len(results),
            [
                text_column("device", "Device", [shown(result.device.name) for result in results]),
                number_column(
                    "tokens",
                    "Tokens/s",
                    [result.decode_tokens_per_s for result in results],
                    "New tokens a second of all sequences.",
                ),
                text_column("interval", "80 % interval", ends),
                number_column(
                    "first",
                    "First token (ms)",
                    [None if result is None else result.median for result in first],
                    "Time from the prompt to the first token.",
                ),
                number_column(
                    "memory",
                    "Memory (GiB)",
                    [result.memory.total / GIB for result in results],
                    "Memory of weights, KV cache and buffers.",
                ),
                text_column("fits", "Fits", [memory_text(result.fits) for result in results]),
                number_column(
                    "context",
                    "Context",
                    [result.longest_context for result in results],
                    "Longest context of a sequence that the memory holds, in tokens.",
                    lambda value: NOTHING if value is None else f"{value:,.0f}",
                ),
                number_column(
                    "joules",
                    "J/token",
                    [None if energy is None else energy.median for energy in joules],
                    "Joules of a new token, its share of the prompt with it.",
                ),
                text_column("binds", "Bound by", [_binds(result) for result in results]),
                number_column(
                    "bound", "Most tokens/s", bounds, "Tokens a second that physics allows."
                ),
                text_column(
                    "runtime", "Runtime", [result.runtime or NOTHING for result in results]
                ),
                text_column("weights", "Weights", [result.weights for result in results]),
                number_column(
                    "measured",
                    "Measured",
                    [_rate(rates.get(result.device.id)) for result in results],
                    "Tokens a second that you measured.",
                ),
                text_column(
                    "evidence", "Rests on", [result.evidence or NOTHING for result in results]
                ),
            ],
            # Numbers for other programs.
            [number_column("low", "at least", low), number_column("high", "at most", high)],
        )


def answer(results: Sequence[Generation]) -> str:
    """Return the fastest device with memory enough or unknown, and on how many it fits."""
    fitting = sum(result.fits is True for result in results)
    fits = f"fits on {fitting} of {plural(len(results), 'device')}"
    rated = [e for e in results if e.decode_tokens_per_s is not None and e.fits is not False]
    if not rated:
        return capitalised(fits)
    best = max(rated, key=lambda result: result.decode_tokens_per_s or 0.0)
    low, high = (number(_per_s(best, end)) for end in ("high", "low"))
    rate = f"{number(best.decode_tokens_per_s)} tokens/s on {shown(best.device.name)}"
    return f"Fastest {rate}, likely {low} to {high}; {fits}"


def _per_s(result: Generation, end: str) -> float | None:
    """Return the tokens a second of all sequences at an end of the time of a token."""
    return (
        None if result.token is None else 1000 * result.request.batch / getattr(result.token, end)
    )


def _ends(low: float | None, high: float | None) -> str:
    return NOTHING if low is None else f"{number(low)} – {number(high)}"


def _rate(measured: MeasuredRate | None) -> float | None:
    return None if measured is None else measured.tokens_per_s


def _binds(result: Generation) -> str:
    return result.token.binds.value if result.token else NOTHING


def details(result: Generation, measured: MeasuredRate | None) -> str:
    """Return what a row rests on, a sentence a line; ``measured`` is the user's own on it."""
    if result.token is None or result.first_token is None:
        return f"{result.problem}."
    lines = [
        f"Prompt bound by {result.first_token.binds}, tokens bound by {result.token.binds}.",
        f"Rests on: {result.evidence}.",
    ]
    if measured is not None:
        run = measured.request
        lines.append(
            f"You measured {number(measured.tokens_per_s)} tokens/s of "
            f"{shown(measured.model.name)} in {run.weights} under {run.runtime}: "
            f"{run.prompt:,} prompt tokens, {run.new:,} new."
        )
    if result.usable is not None:
        lines.append(f"Memory that it may take: {result.usable.assumption}.")
    if result.fits is False:
        lines.append("It does not fit: the rates are those that it would have if it did.")
    return "\n".join(lines)


# Places among the colours of series; a part has one in every bar.
_COLOURS: Final = {
    "reading the weights": 0,
    "reading the KV cache": 1,
    "multiplying": 2,
    "unpacking and multiplying the weights": 3,
    "attention": 4,
    "moving activations": 5,
    "launching the layers": 7,
    "weights": 0,
    "KV cache": 1,
    "buffers": 7,
}


class BarPart(NamedTuple):
    """A part of a bar: its name, its length of the whole bar's 1, its place among the colours."""

    name: str
    length: float
    colour: int


@dataclass(frozen=True, slots=True)
class PartsBar:
    """A bar of parts.

    Attributes:
        title: the whole in words.
        parts: the largest first.
        limit: length at which a memory is full; None where there is none.
        is_over: whether the parts pass the limit.
    """

    title: str
    parts: Sequence[BarPart]
    limit: float | None = None
    is_over: bool = False

    @property
    def lines(self) -> list[str]:
        """Each part in words."""
        total = sum(part.length for part in self.parts)
        return [f"{part.name} {percent(part.length / total, 2)}" for part in self.parts]

    @property
    def words(self) -> str:
        """Title and parts, a line each."""
        return "\n".join([self.title, *self.lines])


def parts_bars(result: Generation) -> list[PartsBar]:
    """Return the bars of a device: first token and token where it has numbers, memory."""
    bars = []
    for title, interval in (
        ("First token", result.first_token),
        ("Each further token", result.token),
    ):
        if interval is not None:
            parts = [_part(part.value, share) for part, share in interval.shares.items()]
            bars.append(PartsBar(f"{title}: {number(interval.median)} ms", parts))
    return [*bars, _memory_bar(result)]


def _memory_bar(result: Generation) -> PartsBar:
    usable = result.usable.bytes if result.usable else None
    total = max(result.memory.total, usable or 0)
    names = ("weights", "KV cache", "buffers")
    parts = [
        _part(name, size_bytes / total)
        for name, size_bytes in zip(names, result.memory, strict=True)
    ]
    title = f"Memory: {number(result.memory.total / GIB)} GiB"
    if usable is None:
        return PartsBar(f"{title}; that of the device is not known", parts)
    title += f" of {number(usable / GIB)} GiB"
    if result.fits is False:
        return PartsBar(f"{title}, does not fit", parts, usable / total, is_over=True)
    return PartsBar(title, parts, usable / total)


def _part(name: str, length: float) -> BarPart:
    return BarPart(name, length, _COLOURS[name])
