"""Commands of research, where there is no checkout."""

from __future__ import annotations

import sys

import pytest

from predictor.cli.program import main

NAS = ["evaluate", "nas", "--data", ".", "--output", "."]
BOUND = ["evaluate", "bound", "--data", "."]
TRAIN = ["train", "--data", ".", "--out", "."]


@pytest.mark.parametrize("command", [TRAIN, BOUND, NAS])
def test_without_research_a_checkout_is_asked_for(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ctm_research", None)

    assert main(command) == 3

    (sentence,) = capsys.readouterr().err.splitlines()
    assert "it is not part of an installed CloserToMe; run it in a checkout" in sentence
