"""The reader's process that is started ahead of its use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from predictor.cli import program
from predictor.cli.ahead import reader_ahead, reads_models
from predictor.core.child_start import started as start
from predictor.core.resources import resources_dir
from predictor.services.models import reader
from predictor.services.models.ingestion import IngestionLimits, IngestionWorker

pytestmark = pytest.mark.fresh_children

Child = subprocess.Popen[bytes]
MODEL = str(resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Child]]:
    """Return the processes that are started ahead, as they are."""
    children: list[Child] = []

    def noted(command: list[str]) -> Child:
        children.append(start(command))
        return children[-1]

    monkeypatch.setattr(reader, "started", noted)
    yield children
    reader.end_ahead()
    assert not any(map(runs, children))


def runs(child: Child) -> bool:
    return child.poll() is None


def test_the_first_usual_reader_takes_it(started: list[Child]) -> None:
    reader.start_ahead()

    with IngestionWorker(IngestionLimits(seconds=5.0)) as other, IngestionWorker() as usual:
        assert other._child is not None
        assert other._child._process is not started[0]
        assert usual._child is not None
        assert usual._child._process is started[0]
        assert len(usual.ingest(MODEL).graph) == 100
    assert reader.take_ahead() is None


def test_one_that_nobody_takes_is_ended(started: list[Child]) -> None:
    reader.start_ahead()
    assert runs(started[0])

    reader.end_ahead()

    assert not runs(started[0])


def test_a_command_on_a_model_starts_one_and_takes_it(
    started: list[Child], capsys: pytest.CaptureFixture[str]
) -> None:
    with reader_ahead(["inspect", MODEL]):
        assert program.main(["inspect", MODEL]) == 0

    assert len(started) == 1
    assert "100 operators" in capsys.readouterr().out


def test_a_wrong_command_line_leaves_no_process(
    started: list[Child], capsys: pytest.CaptureFixture[str]
) -> None:
    with reader_ahead(["inspect", MODEL, "--wrong"]):
        assert program.main(["inspect", MODEL, "--wrong"]) == 2

    assert "--wrong" in capsys.readouterr().err
    assert list(map(runs, started)) == [False]


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
    assert not reads_models(arguments)


def test_a_frozen_program_calls_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    assert reader.reader_command(10, 1.5) == [sys.executable, "--ingestion-worker", "10", "2"]
