"""Factors of single operators are trained for a few steps only."""

from __future__ import annotations

import pytest

from ctm_research.evaluation.judge import operator_network


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_network, "_STEPS", 5)
