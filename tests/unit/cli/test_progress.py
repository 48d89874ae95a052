"""The progress of long work on a terminal and where there is none."""

from __future__ import annotations

import io
import sys

import pytest

from predictor.cli.console import Console
from predictor.cli.progress import progress_on
from predictor.core.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    tell = progress_on(Console())

    tell(Progress(0, 2, "a network with a long name"))
    tell(Progress(1, 2, "resnet\x1b[31m18"))

    shown = terminal.getvalue()
    assert "\n" not in shown
    first, second = (line.rstrip() for line in shown.strip("\r").split("\r\r"))
    assert first == "0 of 2: a network with a long name"
    assert second == "1 of 2: resnet\\x1b[31m18"
    assert len({len(line) for line in shown.strip("\r").split("\r\r")}) == 1  # covers the last one


def test_elsewhere_there_is_a_line_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    tell = progress_on(Console())

    for done in range(1000):
        tell(Progress(done, 1000, "network"))

    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"{done} of 1000: network" for done in range(0, 1000, 100)]


@pytest.mark.parametrize("terminal", [io.StringIO, Terminal])
def test_quiet_tells_nothing(monkeypatch: pytest.MonkeyPatch, terminal: type[io.StringIO]) -> None:
    stream = terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    console = Console()
    console.quiet = True

    progress_on(console)(Progress(0, 1, "network"))

    assert stream.getvalue() == ""
