"""Selectors on silicon left out: what they may read, and the figures and page of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm_research.evaluation.judge import selectors
from ctm_research.evaluation.judge.judged import Judged
from ctm_research.evaluation.judge.selectors import (
    NAMES,
    Chooser,
    compare_selectors,
    selectors_page,
)
from predictor.cli.program import main
from predictor.core.errors import CancelledError
from predictor.core.progress import CancelToken
from predictor.core.resources import resources_dir
from predictor.engine.closertome import CloserToMeEngine
from research.tests.evaluation.judge.small_training import corpus_of
from tests.support.graphs import Op, make_graph

ENGINE = CloserToMeEngine(resources_dir() / "checkpoints" / "closertome")
GRAPHS = [
    make_graph([Op(macs=10**7 * (1 + n), read=10**5 * (1 + n % 3), written=10**5)] * (1 + n % 4))
    for n in range(12)
]
DRAWS = 2


@pytest.fixture(scope="module")
def judged() -> Judged:
    """Return twelve kinds of silicon of one class, with twelve networks each."""
    made = corpus_of(12, networks=GRAPHS, slow=np.linspace(1.0, 3.0, 12).tolist())
    noise = np.random.default_rng(0).normal(0.0, 0.1, len(made.log_latency))
    return replace(made, log_latency=made.log_latency + noise)


@pytest.fixture(scope="module")
def figures(judged: Judged) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selectors, "open_corpus", lambda *_, **__: None)
        patch.setattr(selectors, "judged_of", lambda *_: judged)
        devices = {target.device.id: target.device for target in judged.targets}
        return compare_selectors(Path(), devices, seed=0, draws=DRAWS)


@pytest.mark.parametrize("name", NAMES)
def test_a_selector_takes_k_networks_and_looks_at_no_other_latency(
    judged: Judged, name: str
) -> None:
    rows = np.flatnonzero(judged.target == 0)
    chosen = Chooser(judged, ENGINE, judged.targets).choose(name, rows, 8, seed=0)
    assert len(np.unique(chosen)) == 8
    assert np.isin(chosen, rows).all()

    other = np.setdiff1d(rows, chosen)
    log_latency = judged.log_latency.copy()
    log_latency[other] = np.nan
    blind = Chooser(replace(judged, log_latency=log_latency), ENGINE, judged.targets)
    np.testing.assert_array_equal(blind.choose(name, rows, 8, seed=0), chosen)


def test_each_selector_has_an_error_in_each_class_and_in_all(figures: dict[str, Any]) -> None:
    (of_class,) = figures["classes"]
    assert (of_class["class"], of_class["silicon"]) == ("nvidia x pytorch", 12)
    assert set(of_class["errors"]) == {"3", "8"}
    assert all(set(errors) == set(NAMES) for errors in of_class["errors"].values())
    assert len(figures["overall"]) == 2 * len(NAMES)
    for each in figures["overall"]:
        assert 0 < each["error"] < 0.3  # noise of 10 %
        assert each["low"] <= each["ratio"] <= each["high"]
        if each["selector"] == "dbsel":
            assert (each["low"], each["high"]) == (1.0, 1.0)


def test_the_page_has_a_column_for_each_selector(figures: dict[str, Any]) -> None:
    text = selectors_page(figures, "Written by hand.")

    assert "drawn 2 times" in " ".join(text.split())
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({line.count("|") for line in block.splitlines()}) == 1, block
    assert all(f"{name}, k = 8" in text for name in NAMES)


def test_the_command_writes_figures_and_page(
    figures: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "compare_selectors", lambda *_, **__: figures)
    output = tmp_path / "selectors.json"

    assert main(["evaluate", "selectors", "--data", ".", "--output", str(output)]) == 0

    assert json.loads(output.read_text())["overall"] == figures["overall"]
    page = output.with_suffix(".md").read_text()
    assert "`ctm evaluate selectors --data DIR --seed 0 --draws 5 --output OUT.json`" in page


def test_a_comparison_can_be_cancelled(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "open_corpus", lambda *_, **__: None)
    monkeypatch.setattr(selectors, "judged_of", lambda *_: judged)
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        compare_selectors(Path(), {}, seed=0, draws=1, cancel=token)
