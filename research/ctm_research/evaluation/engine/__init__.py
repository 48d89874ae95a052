"""Engines on the parts of the corpus that they have not learned from: ``ctm train``.

``validation`` judges any engine, ``learned`` is the network in training. ``maker`` trains, judges
and writes the checkpoint with its page.
"""

from __future__ import annotations

from ctm_research.evaluation.engine.page import page_part
from ctm_research.evaluation.engine.validation import (
    EnginePredict,
    Figures,
    Validation,
    validate,
)

__all__ = ["EnginePredict", "Figures", "Validation", "page_part", "validate"]
