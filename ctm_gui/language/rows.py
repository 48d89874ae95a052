"""The table of a language model's devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctm_gui.widgets.grid import Grid, number_column, text_column
from predictor.core.units import GIB
from predictor.core.wording import NOTHING, memory_text, number, shown
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
        own = measured or {}
        first, token = ([getattr(e, name) for e in results] for name in ("first_token", "token"))
        low, high, most = (
            [
                None if time is None else 1000 * each.request.batch / getattr(time, end)
                for each, time in zip(results, token, strict=True)
            ]
            for end in ("high", "low", "bound")
        )
        super().__init__(
            len(results),
            [
                text_column("device", "Device", [shown(each.device.name) for each in results]),
                number_column(
                    "tokens",
                    "Tokens/s",
                    [each.decode_tokens_per_s for each in results],
                    "New tokens a second of all sequences.",
                ),
                number_column("low", "at least", low, "Lower end of the 80 % interval."),
                number_column("high", "at most", high, "Upper end of the 80 % interval."),
                number_column(
                    "first",
                    "First (ms)",
                    [None if each is None else each.median for each in first],
                    "Time from the prompt to the first token.",
                ),
                number_column(
                    "memory",
                    "GiB",
                    [each.memory.total / GIB for each in results],
                    "Memory of weights, KV cache and buffers.",
                ),
                text_column("fits", "Memory", [memory_text(each.fits) for each in results]),
                number_column(
                    "context",
                    "Context",
                    [each.longest_context for each in results],
                    "Longest context of a sequence that the memory holds, in tokens.",
                    lambda value: NOTHING if value is None else f"{value:,.0f}",
                ),
                text_column("binds", "Bound by", [_binds(each) for each in results]),
                number_column("bound", "Bound", most, "Tokens a second that physics allows."),
                text_column("runtime", "Runtime", [each.runtime or NOTHING for each in results]),
                text_column("weights", "Weights", [each.weights for each in results]),
                number_column(
                    "measured",
                    "Measured",
                    [_rate(own.get(each.device.id)) for each in results],
                    "Tokens a second that you measured.",
                ),
                text_column("evidence", "Rests on", [each.evidence or NOTHING for each in results]),
            ],
        )


def _rate(measured: MeasuredRate | None) -> float | None:
    return None if measured is None else measured.tokens_per_s


def _binds(each: Generation) -> str:
    return each.token.binds.value if each.token else NOTHING


def details(each: Generation, measured: MeasuredRate | None) -> str:
    """Return what a row rests on, a sentence a line; ``measured`` is the user's own on it."""
    if each.token is None or each.first_token is None:
        return f"{each.problem}."
    lines = [
        f"Prompt bound by {each.first_token.binds}, tokens bound by {each.token.binds}.",
        f"Rests on: {each.evidence}.",
    ]
    if measured is not None:
        run = measured.request
        lines.append(
            f"You measured {number(measured.tokens_per_s)} tokens/s of "
            f"{shown(measured.model.name)} in {run.weights} under {run.runtime}: "
            f"{run.prompt:,} prompt tokens, {run.new:,} new."
        )
    if each.usable is not None:
        lines.append(f"Memory that it may take: {each.usable.assumption}.")
    if each.fits is False:
        lines.append("It does not fit: the rates are those that it would have if it did.")
    return "\n".join(lines)
