"""The table of devices for a language model: a row a device."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ctm_gui.choose.rows import CHANCE, RankedGrid
from ctm_gui.widgets.grid import Column, number_column, text_column
from predictor.core.units import GIB
from predictor.presentation.verdict import likelihood
from predictor.presentation.wording import NOTHING, memory_text, number, shown
from predictor.services.choose.language import LanguageOption

_CHANCE = "That the device keeps every limit: the least of their chances."
_TOKENS = "New tokens a second of all sequences."
_FIRST = "Time from the prompt to the first token."
_JOULES = "Joules of a new token, its share of the prompt with it."
_COST = "Of a million new tokens, from the price an hour that you state."
_FRONT = "No other device that fits is better in tokens a second, joules and cost at once."


class LanguageOptionsGrid(RankedGrid):
    """A row for each device.

    Args:
        options: the best first.
        front: those on the Pareto front.
        min_chance: chance from which one keeps the limits.
    """

    def __init__(
        self,
        options: Sequence[LanguageOption],
        front: Sequence[LanguageOption],
        min_chance: float,
    ) -> None:
        self.language_options = tuple(options)
        runs = [option.generation for option in options]
        super().__init__(
            [
                text_column("device", "Device", [shown(run.device.name) for run in runs]),
                text_column("how", "Runtime", [run.runtime for run in runs]),
                text_column("weights", "Weights", [run.weights for run in runs]),
                _chance_column(options),
                number_column("tokens", "Tokens/s", [r.decode_tokens_per_s for r in runs], _TOKENS),
                number_column(
                    "first",
                    "First token (ms)",
                    [run.first_token.median if run.first_token else None for run in runs],
                    _FIRST,
                ),
                *_columns("joules", "J/token", [option.joules for option in options], _JOULES),
                *_columns("cost", "Cost/1e6", [option.cost for option in options], _COST),
                number_column("memory", "Memory (GiB)", [r.memory.total / GIB for r in runs]),
                text_column("fits", "Fits", [memory_text(run.fits) for run in runs]),
                text_column("remark", "Remark", [_remark(o, front) for o in options], _FRONT),
                text_column("family", "Kind", [run.device.family.value for run in runs]),
            ],
            [option.chance for option in options],
            min_chance,
            [option.generation.fits is False for option in options],
        )


def _chance_column(options: Sequence[LanguageOption]) -> Column:
    return Column(
        key=CHANCE,
        title="Chance",
        text=lambda row: likelihood(options[row].chance),
        numeric=True,
        sort_keys=lambda: np.array([option.chance for option in options], np.float64),
        copied=lambda rows: [f"{options[row].chance:.4f}" for row in rows],
        help=_CHANCE,
    )


def _columns(
    key: str, title: str, values: Sequence[tuple[float, float, float] | None], help_text: str
) -> list[Column]:
    """Return a quantity and its interval; nothing of one that no device has."""
    if not any(values):
        return []
    ends = [NOTHING if v is None else f"{number(v[1])} – {number(v[2])}" for v in values]
    medians = [None if value is None else value[0] for value in values]
    return [
        number_column(key, title, medians, help_text),
        text_column(f"{key}_interval", "80 % interval", ends),
    ]


def _remark(option: LanguageOption, front: Sequence[LanguageOption]) -> str:
    words = [option.remark] if option.remark else []
    return "; ".join([*words, "Pareto front"] if option in front else words) or NOTHING
