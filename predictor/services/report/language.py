"""The section on language models: how fast each device generates, what binds it, what fits."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.core.text import plural
from predictor.core.units import GIB
from predictor.presentation import report
from predictor.presentation.wording import NOTHING, memory_text, number, shown
from predictor.services.generation.document import size_of
from predictor.services.generation.records import Generation, Interval
from predictor.services.report.words import Field, brief, count, figures, table_of, words
from predictor.services.serving.records import LanguageRun, Serving
from predictor.services.serving.sentences import answer


def generation_titles(runs: Sequence[LanguageRun]) -> tuple[str, str]:
    """Return title and subtitle of a report of language models."""
    names = [brief(shown(run.model.name)) for run in runs]
    subject = names[0] if len(names) == 1 else plural(len(names), "language model")
    return f"Tokens a second of {subject}", (
        f"Predicted on {plural(len(runs[0].results), 'device')}"
    )


def language_section(runs: Sequence[LanguageRun]) -> report.Section:
    """Return the section on runs of language models, the fastest device of each first."""
    blocks = [block for run in runs for block in _blocks(run)]
    title = "Language model" if len(runs) == 1 else "Language models"
    return report.Section(report.SectionId.LANGUAGE, title, tuple(blocks))


def _blocks(run: LanguageRun) -> list[report.Block]:
    rows = sorted(run.results, key=lambda result: -(result.decode_tokens_per_s or 0))
    request = run.request
    words = (
        f"{size_of(run.model)}; {request.prompt:,} prompt tokens, {request.new:,} new ones, "
        f"{plural(request.batch, 'sequence')}; tokens a second with {request.depth:,} tokens in "
        "the cache."
    )
    blocks: list[report.Block] = [
        report.Heading(brief(shown(run.model.name))),
        report.Paragraph(words),
    ]
    if any(result.token for result in rows):
        bars = tuple(_bar(result) for result in rows)
        note = "Lines show the 80 % interval."
        blocks.append(
            report.BarChart(
                axis="Tokens a second", series=("Tokens a second",), bars=bars, note=note
            )
        )
    blocks += [table_of(_COLUMNS, rows), report.Heading("What binds, and what it rests on")]
    blocks.append(report.Bullets(tuple(_behind(result) for result in rows)))
    if run.serving:
        blocks += [report.Heading(_load_words(run.serving[0])), _served(run.serving)]
    return blocks


def _load_words(serving: Serving) -> str:
    return f"Under {number(serving.load.rate_per_s)} requests a second"


def _served(serving: Sequence[Serving]) -> report.Bullets:
    return report.Bullets(tuple(report.Cell(answer(result)) for result in serving))


def _bar(result: Generation) -> report.Bar:
    token, rate = result.token, result.decode_tokens_per_s
    label = brief(shown(result.device.name))
    if token is None:
        return report.Bar(
            label=label, detail=result.runtime, series=0, value=None, text="no number"
        )
    # The axis ends with the longest interval, and the bound lies beyond it.
    low, high = _rate(result, token.high), _rate(result, token.low)
    return report.Bar(
        label=label,
        detail=result.runtime,
        series=0,
        value=rate,
        text=number(rate),
        low80=low,
        high80=high,
    )


def _rate(result: Generation, token_ms: float) -> float:
    return 1000 * result.request.batch / token_ms


def _figure(value: float | None) -> report.Cell:
    return report.Cell(number(value), value)


def _between(low: float, high: float) -> str:
    return f"{number(low)} to {number(high)}"


def _longest(result: Generation) -> report.Cell:
    return report.Cell(NOTHING) if result.longest_context is None else count(result.longest_context)


def _median(time: Interval | None) -> report.Cell:
    return _figure(time.median if time else None)


def _first(time: Interval | None) -> str:
    return _between(time.low, time.high) if time else NOTHING


def _bound(result: Generation) -> report.Cell:
    return _figure(_rate(result, result.token.bound) if result.token else None)


def _tokens(result: Generation) -> str:
    time = result.token
    return _between(_rate(result, time.high), _rate(result, time.low)) if time else NOTHING


_COLUMNS: tuple[Field[Generation], ...] = (
    words("device", "Device", lambda result: brief(shown(result.device.name))),
    words("runtime", "Runtime", lambda result: result.runtime or NOTHING),
    words("weights", "Weights", lambda result: result.weights),
    figures("first", "First token ms", lambda result: _median(result.first_token)),
    words("first80", "80 % interval", lambda result: _first(result.first_token)),
    figures("tokens", "Tokens/s", lambda result: _figure(result.decode_tokens_per_s)),
    words("tokens80", "80 % interval", _tokens),
    figures("bound", "At most", _bound),
    figures("memory", "Memory GiB", lambda result: _figure(result.memory.total / GIB)),
    words("fits", "Memory", lambda result: memory_text(result.fits)),
    figures("context", "Longest context", _longest),
)


def _behind(result: Generation) -> report.Cell:
    """Return what binds the phases of a device and what its numbers rest on, in a sentence."""
    device = brief(shown(result.device.name))
    if result.token is None or result.first_token is None:
        return report.Cell(f"{device}: {shown(result.problem)}.", tone=report.Tone.WARN)
    binds = f"prompt bound by {result.first_token.binds}, tokens bound by {result.token.binds}"
    parts = ", ".join(
        f"{number(size_bytes / GIB)} GiB of {name}"
        for name, size_bytes in zip(("weights", "cache", "buffers"), result.memory, strict=True)
    )
    memory = f"; {parts}" + (f"; memory: {result.usable.assumption}" if result.usable else "")
    unfit = "; it does not fit, the rates are those that it would have if it did"
    split = f"{shown(result.split.words)}; " if result.split else ""
    return report.Cell(
        f"{device}: {split}{binds}; {result.basis}, {result.evidence}{memory}"
        f"{unfit if result.fits is False else ''}.",
        tone=report.Tone.WARN if result.fits is False else report.Tone.PLAIN,
    )
