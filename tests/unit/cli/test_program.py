from __future__ import annotations

import argparse

import pytest

from predictor.cli import program
from predictor.cli.console import Console
from predictor.core.errors import CancelledError, HostError, InputError


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("CTM_DEBUG", raising=False)
    return monkeypatch


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    def run(_: argparse.Namespace, __: Console) -> int:
        raise error

    options = argparse.Namespace(run=run, quiet=False)
    monkeypatch.setattr(program, "parse", lambda _: options)
    return program.main(["store", "info"])


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InputError("x.onnx", "it is empty", "choose a model"), 2, "x.onnx: it is empty"),
        (HostError("disk", "it is full", "free space"), 3, "disk: it is full; free space."),
        (CancelledError(), 130, "cancelled"),
        (MemoryError(), 3, "memory"),
    ],
)
def test_each_error_has_its_exit_code_and_one_sentence(
    failing: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    words: str,
) -> None:
    assert fail_with(failing, error) == code

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert words in printed.err


def test_an_interrupted_definition_of_a_class_is_no_defect(failing: pytest.MonkeyPatch) -> None:
    error = RuntimeError("Error calling __set_name__")  # as Python 3.11 says it
    error.__cause__ = KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        fail_with(failing, error)


def test_a_defect_says_how_to_report_it(
    failing: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fail_with(failing, ZeroDivisionError("division by zero")) == 3

    printed = capsys.readouterr().err
    assert "ZeroDivisionError" in printed
    assert "CTM_DEBUG=1" in printed
    assert "Traceback" not in printed


def test_a_defect_shows_its_traceback_when_asked(
    failing: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing.setenv("CTM_DEBUG", "1")

    assert fail_with(failing, ZeroDivisionError("division by zero")) == 3
    assert "Traceback (most recent call last)" in capsys.readouterr().err
