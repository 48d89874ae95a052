"""The tables of a load without widgets: streams, the stages of one, boxes that carry it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ctm_gui.widgets.grid import Grid, number_column, text_column
from predictor.presentation.wording import NOTHING, number, shown
from predictor.services.loads.answers import Answer, Candidate, StageAnswer, StreamAnswer
from predictor.services.loads.records import AUTO, Load
from predictor.services.serving.records import Between
from predictor.services.serving.sentences import percent

_P = "{0} % of the items pass the pipeline in this time, on the median of the draws."
_MISSED = "Share of the items over the deadline, on average over the draws."
_CHANCE = "That the stream keeps its deadline: the share of the draws in which it does."
_HOLDS = "Number of such streams that hold with the chance of the load, the others as stated."
_JOULES = "Joules of an item's runs, where the power of all units is known."
_SHARE = "Share of the unit's time that the runs of the stage need."
_RUN = "Predicted time of a run by itself."
_BUSIEST = "Share of the time of the busiest unit, by the P50 of all runs."
_WATTS = "Stated of the power mode, else of the box."
_RUN_WATTS = "That the runs draw on average; idle time is not counted."


class StreamsGrid(Grid):
    """A row a stream.

    Args:
        streams: tables of the load file.
        answer: of the box; None without one.
    """

    def __init__(self, streams: Sequence[Mapping[str, Any]], answer: Answer | None) -> None:
        answers = {entry.stream.name: entry for entry in answer.streams} if answer else {}
        matches = [answers.get(str(stream.get("name"))) for stream in streams]
        super().__init__(
            len(streams),
            [
                text_column("name", "Stream", [_text(stream, "name") for stream in streams]),
                text_column("rate", "Items/s", list(map(_rate, streams))),
                number_column(
                    "holds",
                    "Holds",
                    [float(a.largest_count) if a else None for a in matches],
                    _HOLDS,
                ),
                text_column(
                    "chance", "Chance", [percent(a.chance) if a else NOTHING for a in matches],
                    _CHANCE,
                ),
                text_column("missed", "Missed", list(map(_missed, matches)), _MISSED),
                _time_column("p50", "P50 (ms)", [a.p50_ms if a else None for a in matches], 50),
                _time_column("p99", "P99 (ms)", [a.p99_ms if a else None for a in matches], 99),
                text_column("deadline", "Deadline", list(map(_deadline, streams))),
                number_column(
                    "joules",
                    "J/item",
                    [a.joules.median if a and a.joules else None for a in matches],
                    _JOULES,
                ),
                text_column("stages", "Pipeline", list(map(pipeline_text, streams))),
            ],
        )  # fmt: skip


class StagesGrid(Grid):
    """A row a stage of one stream.

    Args:
        stages: tables of the load file.
        answer: of the stream; None without one.
    """

    def __init__(self, stages: Sequence[Mapping[str, Any]], answer: StreamAnswer | None) -> None:
        answers = {entry.stage.name: entry for entry in answer.stages} if answer else {}
        matches = [answers.get(stage_name(stage)) for stage in stages]
        super().__init__(
            len(stages),
            [
                text_column("name", "Stage", [shown(stage_name(stage)) for stage in stages]),
                text_column(
                    "unit", "Unit",
                    [unit_text(s, a) for s, a in zip(stages, matches, strict=True)],
                ),
                number_column(
                    "run",
                    "ms a run",
                    [a.cost.prediction.latency_ms if a else None for a in matches],
                    _RUN,
                ),
                text_column(
                    "share", "Of the unit", [percent(a.share) if a else NOTHING for a in matches],
                    _SHARE,
                ),
                text_column("runs", "Runs", [_text(stage, "per_item", "1") for stage in stages]),
                number_column("batch", "Batch", [a.mean_batch if a else None for a in matches]),
                text_column("model", "Model", [_text(stage, "model") for stage in stages]),
            ],
        )  # fmt: skip


class BoxesGrid(Grid):
    """A row a box in a mode.

    Args:
        candidates: the best first.
        load: that they carry.
    """

    def __init__(self, candidates: Sequence[Candidate], load: Load) -> None:
        super().__init__(
            len(candidates),
            [
                text_column("box", "Box", [shown(c.box.name) for c in candidates]),
                text_column("mode", "Mode", [shown(c.box.mode) or NOTHING for c in candidates]),
                text_column("chance", "Chance", [_chance(c, load) for c in candidates]),
                number_column("watts", "Power (W)", [c.watts for c in candidates], _WATTS),
                text_column("busiest", "Busiest unit", list(map(_busiest, candidates)), _BUSIEST),
                number_column(
                    "runs", "W of runs", [c.run_watts for c in candidates], _RUN_WATTS
                ),
                text_column("of", "Of", [_scope(c) for c in candidates]),
                text_column(
                    "problem", "Why not", [shown(c.problem) or NOTHING for c in candidates]
                ),
            ],
        )  # fmt: skip


def stage_name(stage: Mapping[str, Any]) -> str:
    """Return the name of a stage's table: that of its model where it states none."""
    model = str(stage.get("model", ""))
    return str(stage.get("name") or model.rpartition("/")[2].rpartition(".")[0] or model)


def pipeline_text(stream: Mapping[str, Any]) -> str:
    """Return the names of the stages of a stream's table."""
    return " → ".join(shown(stage_name(stage)) for stage in stream.get("stage", ())) or NOTHING


def unit_text(stage: Mapping[str, Any], answer: StageAnswer | None) -> str:
    """Return the unit of a stage's table, with the one that it was placed on."""
    stated = _text(stage, "unit", AUTO)
    return f"{AUTO}: {answer.unit}" if answer and stated == AUTO else stated


def _rate(stream: Mapping[str, Any]) -> str:
    count, rate = stream.get("count", 1), stream.get("rate")
    text = number(rate) if isinstance(rate, int | float) else NOTHING
    return text if count == 1 else f"{count} × {text}"


def _deadline(stream: Mapping[str, Any]) -> str:
    value = stream.get("deadline_ms")
    return f"{number(value)} ms" if isinstance(value, int | float) else NOTHING


def _missed(answer: StreamAnswer | None) -> str:
    if answer is None or answer.stream.deadline_ms is None:
        return NOTHING
    return percent(answer.missed)


def _time_column(key: str, title: str, values: Sequence[Between | None], place: int) -> Any:
    numbers = [None if value is None else value.median for value in values]
    return number_column(key, title, numbers, _P.format(place), _endless)


def _endless(value: float | None) -> str:
    return "∞" if value is not None and math.isinf(value) else number(value)


def _text(table: Mapping[str, Any], key: str, usual: str = NOTHING) -> str:
    return shown(str(table.get(key, usual)))


def _chance(candidate: Candidate, load: Load) -> str:
    if candidate.problem:
        return NOTHING
    chance = percent(candidate.chance)
    return chance if candidate.holds(load) else f"under {percent(load.chance)}"


def _scope(candidate: Candidate) -> str:
    if candidate.run_watts is None:
        return NOTHING
    return "whole board" if candidate.of_board else "card alone"


def _busiest(candidate: Candidate) -> str:
    busiest = candidate.busiest
    return NOTHING if busiest is None else f"{candidate.unit} {percent(busiest)}"
