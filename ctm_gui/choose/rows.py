"""The table of options: a row a device, its best option."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QColor

from ctm_gui.widgets.grid import Column, Grid, number_column, text_column
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.ordering import number_keys
from ctm_gui.widgets.theme import Theme
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.prediction import Prediction
from predictor.core.run_facts import MEDIAN
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import (
    NOTHING,
    basis_text,
    batch_of,
    configuration_text,
    interval_text,
    p50_number,
    shown,
)
from predictor.services.choose.choice import Option

CHANCE = "chance"
_CHANCE = "That every model keeps every limit."
_LATENCY = "Of the model that is least likely to keep the budget."
_MODE = "Power mode of the device; without one its usual clocks."
_TAIL = "By MLPerf's logs of the runtime and the kind of device at batch 1, where they have it."
_POWER = "As stated of the power mode, else of the device (TDP)."
_NEEDS = "An INT8 model has to be made first, and its answers may differ."
_FRONT = "No other option that meets the budget is better in latency, power and memory at once."


class RankedGrid(Grid):
    """Rows with a chance each.

    Args:
        columns: from left to right.
        chances: of the rows; None where one is not known.
        min_chance: chance from which a row keeps the limits.
        is_broken: whether a row breaks a limit for sure.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        chances: Sequence[float | None],
        min_chance: float,
        is_broken: Sequence[bool],
    ) -> None:
        super().__init__(len(chances), columns)
        self._chances, self._is_broken = chances, is_broken
        self.min_chance = min_chance

    def colour(self, row: int, column: int, theme: Theme) -> str | None:
        """Return the colour of a cell; None for that of any text."""
        chance, is_of_chance = self._chances[row], self.columns[column].key == CHANCE
        if self._is_broken[row] or (is_of_chance and chance is None):
            return theme.muted
        if not is_of_chance or chance is None:
            return None
        return theme.good if chance >= self.min_chance else theme.bad


class OptionsGrid(RankedGrid):
    """A row for each option.

    Args:
        options: the rows, the best first.
        min_chance: chance from which one meets the budget.
    """

    def __init__(self, options: Sequence[Option] = (), min_chance: float = 1.0) -> None:
        self.options = tuple(options)
        rows = [option.prediction for option in options]
        remarks = [option.remark or NOTHING for option in options]
        super().__init__(
            [
                text_column("device", "Device", [shown(o.target.device.name) for o in options]),
                text_column(
                    "how",
                    "Configuration",
                    [configuration_text(o.prediction.configuration) for o in options],
                ),
                text_column("mode", "Mode", [_mode(option) for option in options], _MODE),
                _chance_column(options),
                _latency_column(rows),
                text_column(
                    "interval",
                    "80 % interval (ms)",
                    [interval_text(p, LatencyUnit.MS) for p in rows],
                ),
                text_column("basis", "Basis", [basis_text(p) for p in rows]),
                text_column("needs", "Needs", [_needs(option) for option in options], _NEEDS),
                *_tail_columns(options),
                number_column("watts", "Power (W)", [o.watts for o in options], _POWER),
                number_column("fps", "Items/s", [_fps(o) for o in options]),
                number_column("memory", "Memory (MB)", [o.memory_mb for o in options]),
                text_column("remark", "Remark", remarks, _FRONT),
                text_column("family", "Kind", [o.target.device.family.value for o in options]),
            ],
            [None if option.is_open else option.chance for option in options],
            min_chance,
            [bool(option.broken) for option in options],
        )


class OptionsModel(GridModel):
    """Rows of options; chances in the theme's colours.

    Args:
        options: the theme.
        parent: owner.
    """

    def __init__(self, options: ViewOptions, parent: QObject | None = None) -> None:
        super().__init__(OptionsGrid(), parent)
        self._options = options
        options.theme_changed.connect(self.colour_again)

    def colour(self, row: int, column: int) -> QColor | None:
        """Return the colour of a chance, or of a row that breaks a limit of power or memory."""
        grid = self.grid
        if not isinstance(grid, RankedGrid):
            return None
        colour = grid.colour(grid.source(row), column, self._options.theme)
        return None if colour is None else QColor(colour)


def _needs(option: Option) -> str:
    return "an INT8 model" if option.needs_quantising else NOTHING


def _chance_column(options: Sequence[Option]) -> Column:
    return Column(
        key=CHANCE,
        title="Chance",
        text=lambda row: options[row].chance_text,
        numeric=True,
        sort_keys=lambda: np.array([option.chance for option in options], np.float64),
        copied=lambda rows: [
            "" if options[row].is_open else f"{options[row].chance:.4f}" for row in rows
        ],
        help=_CHANCE,
    )


def _latency_column(rows: Sequence[Prediction]) -> Column:
    """Return the column of P50s; lower limits have their sign and sort last."""
    column = number_column("latency", "P50 (ms)", [p.latency_ms for p in rows], _LATENCY)
    ranked = [None if p.is_lower_limit else p.latency_ms for p in rows]
    return replace(
        column, text=lambda row: p50_number(rows[row]), sort_keys=lambda: number_keys(ranked)
    )


def _tail_columns(options: Sequence[Option]) -> list[Column]:
    """Return the column of the requested percentile; none for the median."""
    percentiles = {option.percentile for option in options} - {MEDIAN}
    return [
        number_column("tail", f"P{percentile} (ms)", [o.tail_ms for o in options], _TAIL)
        for percentile in percentiles
    ]


def _mode(option: Option) -> str:
    return NOTHING if option.mode is None else shown(option.mode.name)


def _fps(option: Option) -> float | None:
    if option.rate is not None:
        return option.rate.per_s
    latency_ms = option.prediction.latency_ms
    return batch_of(option.prediction.configuration) * 1e3 / latency_ms if latency_ms else None
