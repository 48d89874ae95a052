"""Processes that predict: one that is killed, one that cannot start, and wrong input."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from predictor.core.errors import HostError, InputError
from predictor.devices.catalogue import shipped_devices
from predictor.services.prediction.targets import resolve_targets
from predictor.services.rows import processes
from predictor.services.rows.processes import RowsProcess, rows_by_processes
from predictor.services.rows.request import ModelRows, RowsRequest
from predictor.services.rows.text import RowForm
from tests.support.probe_plans import relu_network


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "relu.onnx"
    path.write_bytes(relu_network())
    return str(path)


@pytest.fixture
def request_() -> RowsRequest:
    devices = [each for each in shipped_devices() if each.id in {"rpi4", "rpi5"}]
    return RowsRequest(
        targets=resolve_targets(devices),
        engine="roofline",
        measured={},
        bindings={},
        batch=None,
        shapes={},
        form=RowForm.CSV,
    )


@pytest.fixture
def process(request_: RowsRequest) -> Iterator[RowsProcess]:
    with closing(RowsProcess(request_)) as running:
        yield running


def children() -> list[psutil.Process]:
    return [
        each for each in psutil.Process().children() if "rows.worker" in " ".join(each.cmdline())
    ]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed")
def test_a_killed_process_is_replaced_and_its_reader_ends(
    process: RowsProcess, model: str, tmp_path: Path
) -> None:
    before = process.rows(model)
    assert isinstance(before, ModelRows)
    assert before.text.count(b"\r\n") == 2
    (child,) = children()
    readers = child.children()
    child.kill()
    assert process.rows(model) == before
    psutil.wait_procs(readers, timeout=20)
    assert not [each for each in readers if each.is_running()]

    (tmp_path / "broken.onnx").write_bytes(b"no model")
    wrong = process.rows(str(tmp_path / "broken.onnx"))
    assert isinstance(wrong, InputError)
    assert process.rows(model) == before


def test_a_process_that_never_starts_is_one_error(
    request_: RowsRequest, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setattr(processes, "child_command", lambda _: [sys.executable, "-c", "1/0"])
    with pytest.raises(HostError, match=r"cannot start \(exit code 1: ZeroDivisionError"):
        list(rows_by_processes(request_, [model] * 3, 2))


def test_a_file_that_ends_every_process_is_an_answer(
    request_: RowsRequest, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    ready = r'import os; print("{\"id\":0,\"kind\":\"progress\",\"payload\":{}}", flush=True)'
    code = f"{ready}; input(); input(); os._exit(7)"
    monkeypatch.setattr(processes, "child_command", lambda _: [sys.executable, "-c", code])
    ((path, answer),) = rows_by_processes(request_, [model], 1)
    assert path == model
    assert isinstance(answer, HostError)
    assert answer.reason == "the processes that had it ended (exit code 7)"


@pytest.mark.slow
def test_processes_end_with_the_one_that_asks(request_: RowsRequest, model: str) -> None:
    with closing(rows_by_processes(request_, [model] * 50, 2)) as answers:
        next(answers)
        assert len(children()) == 2
    end = time.monotonic() + 20
    while children():
        assert time.monotonic() < end
        time.sleep(0.05)
