"""Language models among the rows of the comparison: tokens a second beside latencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctm_gui.language.state import LanguageResults
from predictor.core.text import uncapitalised
from predictor.presentation.prediction_rows import PredictionRow
from predictor.presentation.wording import shown


@dataclass(frozen=True, slots=True)
class TokensAnswer:
    """Rows of the comparison for language models on the ticked devices.

    Attributes:
        rows: one a model and device, model by model.
        text: the answer of each model, a line each; empty where there is none.
    """

    rows: Sequence[PredictionRow] = ()
    text: str = ""


def tokens_answer(models: Sequence[LanguageResults]) -> TokensAnswer:
    """Return the rows and the words of language models on devices."""
    rows = [row for model in models for row in model.rows]
    return TokensAnswer(rows, "\n".join(map(_line, models)))


def _line(model: LanguageResults) -> str:
    words = model.message or uncapitalised(model.answer)
    return f"{shown(model.label)}: {words}"
