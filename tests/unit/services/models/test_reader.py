"""The reader's process that is started ahead of its use."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from predictor.cli import program
from predictor.core.child_process import ChildProcess
from predictor.core.resources import resources_dir
from predictor.services.models import reader
from predictor.services.models.ingestion import IngestionLimits, IngestionWorker

MODEL = str(resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ChildProcess]]:
    """Return the processes that are started ahead, as they are."""
    children: list[ChildProcess] = []

    def start(command: list[str]) -> ChildProcess:
        children.append(ChildProcess(command))
        return children[-1]

    monkeypatch.setattr(reader, "ChildProcess", start)
    yield children
    reader.end_ahead()
    assert not any(child.running for child in children)


def test_the_first_usual_reader_takes_it(started: list[ChildProcess]) -> None:
    reader.start_ahead()

    with IngestionWorker(IngestionLimits(seconds=5.0)) as other, IngestionWorker() as usual:
        assert other._child is not started[0]
        assert usual._child is started[0]
        assert len(usual.ingest(MODEL).graph) == 100
    assert reader.take_ahead() is None


def test_one_that_nobody_takes_is_ended(started: list[ChildProcess]) -> None:
    reader.start_ahead()
    assert started[0].running

    reader.end_ahead()

    assert not started[0].running


def test_a_command_on_a_model_starts_one_and_takes_it(
    started: list[ChildProcess], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["inspect", MODEL]) == 0

    assert len(started) == 1
    assert "100 operators" in capsys.readouterr().out


def test_a_wrong_command_line_leaves_no_process(
    started: list[ChildProcess], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["inspect", MODEL, "--wrong"]) == 2

    assert "--wrong" in capsys.readouterr().err
    assert [child.running for child in started] == [False]


@pytest.mark.parametrize(
    "arguments",
    [
        ["devices", "list"],
        ["inspect", "--help"],
        ["predict", MODEL, "--rows"],
        ["generate", "x.onnx"],
    ],
)
def test_other_commands_start_none(arguments: list[str]) -> None:
    assert not program._reads_models(arguments)


def test_a_frozen_program_calls_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    assert reader.reader_command(10, 1.5) == [sys.executable, "--ingestion-worker", "10", "2"]
