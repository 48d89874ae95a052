"""The text of ``ctm serve``: percentiles by device, then what stands behind them."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.cli.model_text import NAME_COLUMNS
from predictor.cli.tables import render_table
from predictor.core.text import plural, printable, shortened
from predictor.presentation.wording import number
from predictor.services.serving.records import Load, Serving, Tail
from predictor.services.serving.sentences import between, load_sentences, percent, rate_sentences

_COLUMNS = ("Device", "ms", "P50", "80 %", "P90", "80 %", "P99", "80 %")
_RIGHT = "  rrrrrr"


def serving_text(size: str, results: Sequence[Serving]) -> str:
    """Return the text.

    Args:
        size: of the decoder in words.
        results: one a device.
    """
    blocks = [_heading(size, results[0])]
    rows = [row for result in results if result.first for row in _rows(result)]
    if rows:
        blocks.append(render_table(_COLUMNS, rows, _RIGHT))
    blocks.append("\n".join(_sentences(result) for result in results))
    return "\n\n".join(blocks)


def _heading(size: str, one: Serving) -> str:
    load = one.load
    requests = f"{number(load.rate_per_s)} requests a second"
    if load.trace:
        requests += f" of a trace of {len(load.trace):,}"
    else:
        requests += f", {load.run.prompt:,} prompt tokens, {load.run.new:,} new ones"
    return f"{printable(one.generation.model)}: {size}; {requests}{_limits(load)}{_server(load)}"


def _limits(load: Load) -> str:
    limits = load.limits
    texts = []
    if limits.first_ms is not None:
        texts.append(f"first token {number(limits.first_ms)} ms")
    if limits.token_ms is not None:
        texts.append(f"{number(limits.token_ms)} ms a token")
    return (
        f"; limits {', '.join(texts)} for {percent(limits.share)} of the requests" if texts else ""
    )


def _server(load: Load) -> str:
    texts = []
    if load.chunk:
        texts.append(f"prompts in parts of {load.chunk:,} tokens a step")
    if load.prefix_hit:
        texts.append(f"{percent(load.prefix_hit)} of a prompt in the cache already")
    if load.speculation:
        texts.append(
            f"{plural(load.speculation.tokens, 'drafted token')}, "
            f"{percent(load.speculation.acceptance)} of them right: "
            f"{number(load.speculation.tokens_a_step)} tokens a step"
        )
    return "".join(f"; {text}" for text in texts)


def _rows(result: Serving) -> list[list[str]]:
    name = shortened(result.device.name, NAME_COLUMNS)
    rows = [[name, "first token", *_tail(result.first)]]
    if result.token:
        rows.append(["", "a token", *_tail(result.token)])
    return rows


def _tail(tail: Tail | None) -> list[str]:
    if tail is None:
        return []
    cells = []
    for value in (tail.p50, tail.p90, tail.p99):
        cells += [number(value.median), between(value)]
    return cells


def _sentences(result: Serving) -> str:
    """Return what a device does with the load, in sentences."""
    name, alone = shortened(result.device.name, NAME_COLUMNS), result.generation
    if result.problem:
        return printable(f"{name}: {result.problem}.")
    return printable(" ".join([f"{name}:", *load_sentences(result), *rate_sentences(result)])) + (
        f"\n  {alone.runtime}, {alone.weights}; {alone.basis}, {printable(alone.evidence)}"
    )
