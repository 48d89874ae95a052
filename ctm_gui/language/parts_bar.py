"""Three bars of a device: the parts of the time of both phases, and of its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from predictor.core.units import GIB
from predictor.presentation.wording import number, percent
from predictor.services.generation.generate import Generation

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
