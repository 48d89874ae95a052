"""The text of ``ctm generate``: a table, what holds the model first, and what stands behind it."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.cli.model_text import NAME_COLUMNS
from predictor.cli.tables import render_table
from predictor.core.text import printable, shortened
from predictor.core.units import GIB
from predictor.presentation.wording import NOTHING, number
from predictor.services.generation.records import Generation, Interval

_COLUMNS = (
    "Device",
    "Runtime",
    "Weights",
    "First token ms",
    "80 % interval",
    "Tokens/s",
    "80 % interval",
    "At most",
    "Memory GiB",
    "Fits",
    "Longest context",
)
_RIGHT = "   rrrrrr r"


def generation_text(size: str, results: Sequence[Generation], *, with_problems: bool) -> str:
    """Return the text.

    Args:
        size: of the decoder in words.
        results: one a device.
        with_problems: whether devices without a number are named.
    """
    numbered = [result for result in results if result.token is not None]
    numbered.sort(key=_order)
    blocks = [_heading(size, results[0])]
    if numbered:
        rows = [_row(result) for result in numbered]
        blocks.append(render_table(_COLUMNS, rows, _RIGHT))
        blocks.append("\n".join(_behind(result) for result in numbered[:_EXPLAINED]))
    if too_small := [result for result in numbered if result.fits is False]:
        reasons = [_too_small(result) for result in too_small[:_EXPLAINED]]
        if len(too_small) > _EXPLAINED:
            reasons.append(f"It does not fit on {len(too_small) - _EXPLAINED} more.")
        reasons.append("Where it does not fit, the rates are those that it would have if it did.")
        blocks.append("\n".join(reasons))
    if with_problems and (problems := [result for result in results if result.token is None]):
        blocks.append(
            "\n".join(printable(f"{result.device.id}: {result.problem}.") for result in problems)
        )
    return "\n\n".join(blocks)


_EXPLAINED = 12  # devices; more of them hide what one looks for
# What is not known to fit comes before what is known not to.
_RANKS = {True: 0, None: 1, False: 2}


def _order(result: Generation) -> tuple[int, float]:
    """Return the key that sorts what fits to the front, and there the fastest."""
    return _RANKS[result.fits], -(result.decode_tokens_per_s or 0)


def _too_small(result: Generation) -> str:
    """Return the reason why the model does not fit."""
    usable = 0.0 if result.usable is None else result.usable.bytes
    on_more = f" It fits on {result.fits_on}." if result.fits_on else ""
    return (
        f"{shortened(result.device.name, NAME_COLUMNS)} does not hold it: it needs "
        f"{number(result.memory.total / GIB)} GiB, and {number(usable / GIB)} are usable.{on_more}"
    )


def _heading(size: str, one: Generation) -> str:
    request = one.request
    counts = f"{request.prompt:,} prompt tokens, {request.new:,} new ones"
    if request.batch > 1:
        counts += f", {request.batch} sequences at once"
    if request.cards > 1:
        counts += f", on {request.cards} cards each"
    if request.mode or request.clock:
        counts += f", at {' and '.join(printable(t) for t in (request.mode, request.clock) if t)}"
    at = f"tokens a second with {request.depth:,} tokens in the cache"
    return f"{printable(one.model)}: {size}; {counts}; {at}"


def _row(result: Generation) -> list[str]:
    first, token = result.first_token, result.token
    batch = result.request.batch
    return [
        shortened(result.device.name, NAME_COLUMNS),
        result.runtime,
        result.weights,
        number(first.median if first else None),
        _between(first.low, first.high) if first else NOTHING,
        number(result.decode_tokens_per_s),
        _between(_rate(token.high, batch), _rate(token.low, batch)) if token else NOTHING,
        number(_rate(token.bound, batch)) if token else NOTHING,
        number(result.memory.total / GIB),
        {True: "yes", False: "no", None: "not known"}[result.fits],
        NOTHING if result.longest_context is None else f"{result.longest_context:,}",
    ]


def _between(low: float, high: float) -> str:
    return f"{number(low)}-{number(high)}"


def _rate(token_ms: float, batch: int) -> float:
    return 1000 * batch / token_ms


def _behind(result: Generation) -> str:
    """Return what binds the phases and what the numbers rest on."""
    binds = f"{_binds('prompt', result.first_token)}, {_binds('tokens', result.token)}"
    name = shortened(result.device.name, NAME_COLUMNS)
    memory = f"; memory: {result.usable.assumption}" if result.usable else ""
    split = f"{printable(result.split.words)}; " if result.split else ""
    total = result.end_to_end
    ends = ""
    if total:
        ends = f"{number(total.median)} ms end to end ({_between(total.low, total.high)}); "
    return f"{name}: {split}{ends}{binds}; {result.basis}, {result.evidence}{memory}"


def _binds(phase: str, interval: Interval | None) -> str:
    return f"{phase} bound by {interval.binds}" if interval else ""
