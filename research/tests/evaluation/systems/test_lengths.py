"""Lengths of training on silicon left out inside a training part."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctm_research.evaluation.systems import lengths
from ctm_research.evaluation.systems.lengths import length_entries
from research.tests.evaluation.systems.small_field import small_field


def test_each_length_is_trained_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lengths, "LENGTHS", (1, 2))
    names = ["pm2lat", "nnlp"]

    nothing = length_entries(small_field(), names, tmp_path, 0)
    trained = length_entries(small_field(), names, tmp_path, 1e9)
    kept = length_entries(small_field(), names, tmp_path, 0)

    assert nothing == []
    assert [(each["name"], each["steps"]) for each in trained] == [("nnlp", 1), ("nnlp", 2)]
    assert kept == trained
