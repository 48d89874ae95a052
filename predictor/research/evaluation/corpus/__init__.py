"""Engines on the parts of the corpus that they have not learned from."""

from __future__ import annotations

from predictor.research.evaluation.corpus.page import page_part
from predictor.research.evaluation.corpus.validation import (
    EnginePredict,
    Figures,
    Validation,
    validate,
)

__all__ = ["EnginePredict", "Figures", "Validation", "page_part", "validate"]
