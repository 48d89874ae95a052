"""The programs that write what ships take one place to write to, and options for no place."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from destination import destination

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
PROGRAMS = (
    "icons",
    "make_help",
    "make_known",
    "make_probes",
    "make_quick",
    "make_samples",
    "make_schema",
    "order_configurations",
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_is_printed_and_nothing_written(
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{program}.py", "--help"])

    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(PACKAGING / f"{program}.py"), run_name="__main__")

    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {program}.py [-h]")
    assert list(tmp_path.iterdir()) == []


def test_the_place_is_the_named_one_or_the_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["make.py", "there"])
    assert destination("", Path("usual")) == Path("there")
    monkeypatch.setattr(sys, "argv", ["make.py"])
    assert destination("", Path("usual")) == Path("usual")
    with pytest.raises(SystemExit):
        destination("")
