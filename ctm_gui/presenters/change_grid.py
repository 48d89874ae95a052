"""The table of predictions then and now."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ctm_gui.presenters.grid import Column, Grid
from ctm_gui.presenters.ordering import number_keys, text_ranks
from ctm_gui.presenters.past_rows import PastRow
from predictor.core.units import LatencyUnit
from predictor.core.wording import (
    NOTHING,
    batch_of,
    configuration_text,
    in_unit,
    local_time,
    number,
    percent,
    plain_number,
    shown,
)
from predictor.services.history.changes import Change
from predictor.services.history.truth import engine_ms


class ChangeGrid(Grid):
    """A row for each prediction: what was said then, what is said now, what was measured.

    Args:
        entries: stored predictions against today's.
        rows: of the same predictions in the history.
        unit: of all latencies.
    """

    def __init__(
        self, entries: Sequence[Change], rows: Sequence[PastRow], unit: LatencyUnit
    ) -> None:
        self.entries, self._rows, self._unit = tuple(entries), tuple(rows), unit
        then = [e.stored.prediction for e in entries]
        now = [None if e.today is None else engine_ms(e.today) for e in entries]
        changes = [e.relative for e in entries]
        columns = [
            _text("model", "Model", [shown(p.model) for p in then]),
            _text("device", "Device", [shown(row.device_name) for row in rows]),
            self._latency("then", "Then", [engine_ms(p) for p in then]),
            self._latency("now", "Now", now),
            Column(
                "change",
                "Change",
                numeric=True,
                text=lambda row: percent(changes[row], signed=True),
                sort_keys=lambda: np.abs(number_keys(changes)),
                copied=lambda picked: [plain_number(changes[row]) for row in picked],
            ),
            self._latency("measured", "Measured", [row.measured_ms for row in rows]),
            _text("why", "Why", [_why(e) for e in entries]),
            _text("how", "Configuration", [configuration_text(p.configuration) for p in then]),
            _text("when", "Made", [local_time(e.stored.created_ns) for e in entries]),
            _text("engine", "Engine now", [_engine(e) for e in entries]),
        ]
        super().__init__(len(self.entries), columns)

    def _latency(self, key: str, title: str, values_ms: Sequence[float | None]) -> Column:
        values = [
            in_unit(value, self._unit, batch_of(row.stored.prediction.configuration))
            for value, row in zip(values_ms, self._rows, strict=True)
        ]
        return Column(
            key,
            f"{title} ({self._unit})",
            numeric=True,
            text=lambda row: number(values[row]),
            sort_keys=lambda: number_keys(values),
            copied=lambda picked: [plain_number(values[row]) for row in picked],
        )


def _engine(entry: Change) -> str:
    return NOTHING if entry.today is None else shown(entry.today.engine)


def _why(entry: Change) -> str:
    if entry.problem:
        return shown(entry.problem)
    return shown("; ".join(entry.reasons)) or ("the same" if entry.relative == 0 else NOTHING)


def _text(key: str, title: str, words: Sequence[str]) -> Column:
    write: Callable[[int], str] = lambda row: words[row]  # noqa: E731
    return Column(key, title, numeric=False, text=write, sort_keys=lambda: text_ranks(words))
