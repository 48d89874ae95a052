"""The text of ``ctm load``: streams, stages and units, then what stands behind them."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.cli.tables import render_table
from predictor.core.text import printable
from predictor.presentation.wording import number
from predictor.services.loads.answers import Answer, Candidate, Settings, StreamAnswer
from predictor.services.loads.sentences import headline, interval, mode_name, sentences
from predictor.services.serving.sentences import percent

_STREAMS = ("Stream", "Items/s", "P50 ms", "80 %", "P90", "80 %", "P99", "80 %", "Deadline",
            "Missed", "Chance")  # fmt: skip
_STAGES = ("Stage", "Unit", "Runs", "ms a run", "80 %", "Batch", "Of the unit", "Basis")
_UNITS = ("Unit", "Device", "Busy", "80 %")
_MODES = ("Mode", "Chance", "Busiest", "W", "W of runs", "J an hour")


def load_text(answer: Answer) -> str:
    """Return the text."""
    stages = [row for stream in answer.streams for row in _stages(stream)]
    blocks = [
        printable(headline(answer)),
        render_table(_STREAMS, [*map(_stream, answer.streams)], " " + "r" * 10),
        render_table(_STAGES, stages, "  rrrrr"),
        render_table(_UNITS, _units(answer), "  rr"),
        *_modes(answer.settings),
        "\n".join(map(printable, sentences(answer))),
    ]
    return "\n\n".join(blocks)


def _modes(settings: Settings | None) -> list[str]:
    """Return the table of the modes; none of a box that has one setting."""
    if settings is None or len(settings.modes) < 2:
        return []
    rows = [
        (
            printable(mode_name(mode)),
            *mode_cells(mode, settings.chance),
            number(mode.joules_per_hour),
        )
        for mode in settings.modes
    ]
    return [render_table(_MODES, rows, " rrrrr")]


def mode_cells(mode: Candidate, chance: float) -> tuple[str, str, str, str]:
    """Return chance, busiest unit, watts and those of the runs of a box in a mode."""
    chance_cell = percent(mode.chance)
    if mode.chance < chance:
        chance_cell = "—" if mode.problem else f"under {percent(chance)}"
    busiest = "—" if mode.busiest is None else f"{mode.unit} {percent(mode.busiest)}"
    card = " (card)" if mode.run_watts is not None and not mode.of_board else ""
    return chance_cell, busiest, number(mode.watts), f"{number(mode.run_watts)}{card}"


def _stream(answer: StreamAnswer) -> Sequence[str]:
    stream = answer.stream
    count = f"{stream.count} × " if stream.count > 1 else ""
    cells = [printable(stream.name), f"{count}{number(stream.rate_per_s)}"]
    for value in (answer.p50_ms, answer.p90_ms, answer.p99_ms):
        cells += [number(value.median), interval(value)]
    has_deadline = stream.deadline_ms is not None
    return [
        *cells,
        f"{number(stream.deadline_ms)} ms" if has_deadline else "—",
        percent(answer.missed) if has_deadline else "—",
        percent(answer.chance),
    ]


def _stages(answer: StreamAnswer) -> list[list[str]]:
    rows = []
    for stage in answer.stages:
        prediction = stage.cost.prediction
        low, high = prediction.low80_ms, prediction.high80_ms
        rows.append([
            printable(f"{answer.stream.name}: {stage.stage.name}"),
            f"{stage.unit} ({stage.cost.how})",
            number(stage.stage.per_item),
            number(prediction.latency_ms),
            f"{number(low)} – {number(high)}" if low and high else "—",
            number(stage.mean_batch),
            percent(stage.share),
            prediction.basis.value if prediction.basis else "—",
        ])  # fmt: skip
    return rows


def _units(answer: Answer) -> list[list[str]]:
    return [
        [
            unit.name,
            printable(unit.device) + (f" × {unit.count}" if unit.count > 1 else ""),
            percent(unit.utilisation.median),
            f"{percent(unit.utilisation.low)} – {percent(unit.utilisation.high)}",
        ]
        for unit in answer.units
    ]
