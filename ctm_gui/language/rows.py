"""The table of a language model's devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctm_gui.widgets.grid import Grid, number_column, text_column
from predictor.core.text import capitalised, plural
from predictor.core.units import GIB
from predictor.presentation.wording import NOTHING, memory_text, number, shown
from predictor.services.generation.generate import Generation, MeasuredRate


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
