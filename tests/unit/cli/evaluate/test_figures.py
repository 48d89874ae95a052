"""Commands that need research or a library of training, where it is absent."""

from __future__ import annotations

import sys

import pytest

from predictor.cli.evaluate.figures import research_needed
from predictor.cli.program import main
from predictor.core.errors import HostError

NAS = ["evaluate", "nas", "--data", ".", "--output", "."]
BOUND = ["evaluate", "bound", "--data", "."]
TRAIN = ["train", "--data", ".", "--out", "."]


@pytest.mark.parametrize(
    ("command", "module"),
    [
        (TRAIN, "predictor.research.evaluation.engine.maker"),
        (BOUND, "predictor.research.evaluation.bound"),
        (NAS, "predictor.research.nas.benchmark.suites"),
    ],
)
def test_without_research_a_checkout_is_asked_for(
    command: list[str],
    module: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delitem(sys.modules, "predictor.cli.evaluate.suite", raising=False)
    # Submodules too: where other tests have loaded them, they are imported without their package.
    for name in [module, *(name for name in sys.modules if name.startswith(f"{module}."))]:
        monkeypatch.setitem(sys.modules, name, None)

    assert main(command) == 3

    (sentence,) = capsys.readouterr().err.splitlines()
    assert "it is not part of an installed CloserToMe; run it in a checkout" in sentence


def test_without_torch_the_requirements_are_named() -> None:
    with pytest.raises(HostError) as raised, research_needed("training"):
        raise ModuleNotFoundError(name="torch")

    assert str(raised.value) == "training: torch is not installed; install closertome[train]."
