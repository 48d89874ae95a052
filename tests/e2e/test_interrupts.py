"""Ctrl+C while ``ctm`` is being loaded and while its interpreter ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, Start

# Python runs it before our first line.
INTERRUPTING = """
import os, signal, sys

def interrupt(event, arguments):
    if event == "import" and arguments[0] == os.environ["MOMENT"]:
        os.environ["MOMENT"] = "past"
        os.kill(os.getpid(), signal.SIGINT)

class Last:
    def __del__(self, kill=os.kill, process=os.getpid(), number=signal.SIGINT):
        kill(process, number)

sys.addaudithook(interrupt)
if os.environ["MOMENT"] == "the end":
    sys.last = Last()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING)
    return f"{tmp_path}{os.pathsep}{ROOT}"


@pytest.mark.parametrize(
    "module", ["predictor.core.interrupts", "argparse", "predictor.cli.predicting", "numpy"]
)
def test_ctrl_c_during_an_import_is_one_sentence(
    start_ctm: Start, path: str, fixed_model: Path, module: str
) -> None:
    process = start_ctm("predict", fixed_model, PYTHONPATH=path, MOMENT=module)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out, err) == (130, "", "ctm: cancelled.\n")


def test_ctrl_c_after_the_answer_takes_nothing_back(start_ctm: Start, path: str) -> None:
    process = start_ctm("devices", "list", PYTHONPATH=path, MOMENT="the end")
    out, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (0, "")
    assert "tesla-t4" in out
