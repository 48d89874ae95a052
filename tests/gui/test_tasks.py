from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from ctm_gui.tasks.serial import SerialWorker, TaskContext
from predictor.core.errors import CtmError, InputError
from predictor.core.progress import Progress


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[SerialWorker]:
    worker = SerialWorker("test")
    yield worker
    worker.close()


def fail(error: CtmError) -> None:
    pytest.fail(str(error))


def test_results_come_back_in_order_on_the_windows_thread(
    qtbot: QtBot, worker: SerialWorker
) -> None:
    here = threading.get_ident()
    seen: list[tuple[int, int]] = []
    for number in range(5):
        worker.submit(
            lambda _, number=number: (number, threading.get_ident()),
            on_result=lambda pair: seen.append((pair[0], pair[1])) or None,
            on_error=fail,
        )
    assert seen == []  # never before submit has returned
    qtbot.waitUntil(lambda: len(seen) == 5)
    assert [number for number, _ in seen] == [0, 1, 2, 3, 4]
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1] != here
    assert not worker.busy


def test_callbacks_run_on_the_windows_thread(qtbot: QtBot, worker: SerialWorker) -> None:
    threads: list[int] = []

    def work(context: TaskContext) -> None:
        context.report(Progress(1, 2, "half"))
        raise InputError("model.onnx", "it is wrong", "mend it")

    worker.submit(
        work,
        on_result=lambda _: pytest.fail("it failed"),
        on_error=lambda _: threads.append(threading.get_ident()),
        on_progress=lambda progress: threads.append(threading.get_ident() + progress.done - 1),
    )
    qtbot.waitUntil(lambda: len(threads) == 2)
    assert threads == [threading.get_ident()] * 2


def test_a_superseded_result_is_dropped_though_its_work_ends(
    qtbot: QtBot, worker: SerialWorker
) -> None:
    started, release = threading.Event(), threading.Event()
    results: list[str] = []

    def slow(_: TaskContext) -> str:
        started.set()
        assert release.wait(10)
        return "old"

    old = worker.submit(slow, on_result=results.append, on_error=fail)
    assert started.wait(10)
    worker.submit(lambda _: "new", on_result=results.append, on_error=fail)
    old.drop()
    release.set()
    qtbot.waitUntil(lambda: not worker.busy and bool(results))
    assert results == ["new"]
    assert not old.token.cancelled


def test_cancel_asks_running_work_to_stop_and_starts_no_waiting_work(
    qtbot: QtBot, worker: SerialWorker
) -> None:
    started = threading.Event()
    ran: list[str] = []

    def until_cancelled(context: TaskContext) -> None:
        started.set()
        while True:
            context.token.check()

    running = worker.submit(until_cancelled, on_result=fail, on_error=fail)
    waiting = worker.submit(lambda _: ran.append("waiting"), on_result=fail, on_error=fail)
    assert started.wait(10)
    worker.submit(lambda _: ran.append("last"), on_result=lambda _: None, on_error=fail)
    waiting.cancel()
    running.cancel()
    qtbot.waitUntil(lambda: ran == ["last"], timeout=10_000)


def test_a_defect_is_raised_on_the_windows_thread(qtbot: QtBot, worker: SerialWorker) -> None:
    def broken(_: TaskContext) -> None:
        raise ZeroDivisionError("a defect")

    with capture_exceptions() as raised:
        worker.submit(broken, on_result=fail, on_error=fail)
        qtbot.waitUntil(lambda: bool(raised))
    assert raised[0][0] is ZeroDivisionError
    ran: list[int] = []
    worker.submit(lambda _: 1, on_result=ran.append, on_error=fail)
    qtbot.waitUntil(lambda: ran == [1])


def test_close_finishes_what_must_not_be_lost(qtbot: QtBot) -> None:
    worker = SerialWorker("test")
    done: list[str] = []
    worker.submit(lambda _: done.append("record"), on_result=fail, on_error=fail)
    worker.close(lambda: done.append("close"), finish=True)
    assert done == ["record", "close"]
