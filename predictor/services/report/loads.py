"""The section on a load: whether its box carries it, latencies, units, and what binds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from predictor.core.text import plural
from predictor.presentation import report
from predictor.presentation.wording import NOTHING, number, shown
from predictor.services.loads.answers import (
    Answer,
    Candidate,
    StageAnswer,
    StreamAnswer,
    UnitAnswer,
)
from predictor.services.loads.sentences import headline, interval, mode_name, sentences
from predictor.services.report.words import Field, brief, figures, integer, table_of, words
from predictor.services.serving.records import Between
from predictor.services.serving.sentences import percent

_ENDLESS = "no limit"
_PERCENT = 100.0


def load_titles(answers: Sequence[Answer]) -> tuple[str, str]:
    """Return title and subtitle of a report of loads."""
    names = [brief(shown(answer.box.name)) for answer in answers]
    subject = f"{names[0]} carries" if len(names) == 1 else f"{len(names)} boxes carry"
    streams = sum(stream.stream.count for answer in answers for stream in answer.streams)
    return f"What {subject}", f"Simulated with {plural(streams, 'stream')}"


def load_section(answers: Sequence[Answer]) -> report.Section:
    """Return the section on loads; it has no blocks where there is none."""
    blocks: list[report.Block] = []
    for answer in answers:
        if len(answers) > 1:
            name = brief(shown(answer.box.name))
            blocks.append(report.Heading(name, shown(answer.box.mode)))
        blocks += _blocks(answer)
    title = "Load" if len(answers) == 1 else "Loads"
    return report.Section(report.SectionId.LOAD, title, tuple(blocks))


def _blocks(answer: Answer) -> Iterator[report.Block]:
    tone = report.Tone.GOOD if answer.holds else report.Tone.BAD
    yield report.Paragraph(shown(headline(answer), 1000), tone)
    yield _latencies(answer)
    yield table_of(_STREAMS, answer.streams, "Streams")
    stages = [(stream, stage) for stream in answer.streams for stage in stream.stages]
    yield table_of(_STAGES, stages, "Stages")
    yield _units(answer)
    if answer.settings is not None and len(answer.settings.modes) > 1:
        yield table_of(_MODES, answer.settings.modes, "Modes")
    yield report.Heading("What binds, and what would help")
    yield report.Bullets(tuple(report.Cell(shown(words, 1000)) for words in sentences(answer)))


def _latencies(answer: Answer) -> report.BarChart:
    """Return P50, P90 and P99 of the streams with the deadline where all have the same."""
    deadlines = {stream.stream.deadline_ms for stream in answer.streams}
    deadline = deadlines.pop() if len(deadlines) == 1 else None
    bars: list[report.Bar] = []
    for stream in answer.streams:
        ends = (stream.p50_ms, stream.p90_ms, stream.p99_ms)
        bars += [_latency_bar(stream, place, value) for place, value in enumerate(ends)]
    return report.BarChart(
        axis="Latency in ms",
        series=_PERCENTILES,
        bars=tuple(bars),
        budget=deadline,
        budget_text="" if deadline is None else f"deadline {number(deadline)} ms",
        note="Lines show the 80 % interval over the draws of the uncertain latencies.",
    )


_PERCENTILES = ("P50", "P90", "P99")


def _latency_bar(stream: StreamAnswer, place: int, value: Between) -> report.Bar:
    is_finite = math.isfinite(value.median)
    deadline = stream.stream.deadline_ms
    has_interval = is_finite and math.isfinite(value.high)
    return report.Bar(
        label=brief(shown(stream.stream.name)),
        detail="",
        series=place,
        value=value.median if is_finite else None,
        text=f"{number(value.median)} ({interval(value)})" if is_finite else _ENDLESS,
        over=deadline is not None and value.median > deadline,
        low80=value.low if has_interval else None,
        high80=value.high if has_interval else None,
    )


def _units(answer: Answer) -> report.BarChart:
    return report.BarChart(
        axis="Percent of its time that a unit is busy",
        series=("Busy",),
        bars=tuple(map(_unit_bar, answer.units)),
        budget=_PERCENT,
        budget_text="all of its time",
        note="Lines show the 80 % interval.",
    )


def _unit_bar(unit: UnitAnswer) -> report.Bar:
    busy = unit.utilisation
    count = f" × {unit.count}" if unit.count > 1 else ""
    return report.Bar(
        label=f"{unit.name}{count}",
        detail=brief(shown(unit.device)),
        series=0,
        value=_PERCENT * busy.median,
        text=f"{percent(busy.median)} ({percent(busy.low)} – {percent(busy.high)})",
        over=busy.median > 1,
        low80=_PERCENT * busy.low,
        high80=_PERCENT * busy.high,
    )


def _time(value: Between) -> report.Cell:
    if not math.isfinite(value.median):
        return report.Cell(_ENDLESS)
    return report.Cell(number(value.median), value.median)


def _share(value: float) -> report.Cell:
    return report.Cell(percent(value), value)


def _deadline(stream: StreamAnswer) -> report.Cell:
    return report.Cell(number(stream.stream.deadline_ms), stream.stream.deadline_ms)


def _missed(stream: StreamAnswer) -> report.Cell:
    has_deadline = stream.stream.deadline_ms is not None
    return _share(stream.missed) if has_deadline else report.Cell(NOTHING)


def _joules(stream: StreamAnswer) -> report.Cell:
    median = stream.joules.median if stream.joules else None
    return report.Cell(number(median), median)


_STREAMS: tuple[Field[StreamAnswer], ...] = (
    words("stream", "Stream", lambda stream: brief(shown(stream.stream.name))),
    figures("count", "Streams", lambda stream: integer(stream.stream.count)),
    figures(
        "rate", "Items/s", lambda s: report.Cell(number(s.stream.rate_per_s), s.stream.rate_per_s)
    ),
    words("arrival", "Arrival", lambda stream: stream.stream.arrival),
    figures("p50", "P50 ms", lambda stream: _time(stream.p50_ms)),
    figures("p99", "P99 ms", lambda stream: _time(stream.p99_ms)),
    figures("deadline", "Deadline ms", _deadline),
    figures("missed", "Missed", _missed),
    figures("chance", "Chance", lambda stream: _share(stream.chance)),
    figures("holds", "Holds", lambda stream: integer(stream.largest_count)),
    figures("joules", "J an item", _joules),
)


def _run(stage: StageAnswer) -> report.Cell:
    latency_ms = stage.cost.prediction.latency_ms
    return report.Cell(number(latency_ms), latency_ms)


def _run80(stage: StageAnswer) -> str:
    low, high = stage.cost.prediction.low80_ms, stage.cost.prediction.high80_ms
    return f"{number(low)} – {number(high)}" if low and high else NOTHING


def _how(stage: StageAnswer) -> str:
    return f"{stage.unit} ({stage.cost.how})"


_MODES: tuple[Field[Candidate], ...] = (
    words("mode", "Mode", lambda mode: brief(shown(mode_name(mode)))),
    figures("chance", "Chance", lambda mode: _share(mode.chance)),
    figures("watts", "Power W", lambda mode: report.Cell(number(mode.watts), mode.watts)),
    figures("runs", "W of runs", lambda m: report.Cell(number(m.run_watts), m.run_watts)),
    figures(
        "joules", "J an hour",
        lambda mode: report.Cell(number(mode.joules_per_hour), mode.joules_per_hour),
    ),
    words("problem", "Why not", lambda mode: brief(shown(mode.problem) or NOTHING)),
)  # fmt: skip

_StageRow = tuple[StreamAnswer, StageAnswer]
_STAGES: tuple[Field[_StageRow], ...] = (
    words("stage", "Stage", lambda row: brief(f"{row[0].stream.name}: {row[1].stage.name}")),
    words("model", "Model", lambda row: brief(shown(row[1].stage.model))),
    words("unit", "Unit", lambda row: _how(row[1])),
    figures(
        "runs", "Runs an item",
        lambda row: report.Cell(number(row[1].stage.per_item), row[1].stage.per_item),
    ),
    figures("run", "ms a run", lambda row: _run(row[1])),
    words("run80", "80 % interval", lambda row: _run80(row[1])),
    figures(
        "batch", "Batch", lambda row: report.Cell(number(row[1].mean_batch), row[1].mean_batch)
    ),
    figures("share", "Of the unit", lambda row: _share(row[1].share)),
)  # fmt: skip
