from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QLabel
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
    qtbot.waitUntil(lambda: ran == ["last"])


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


def test_work_goes_on_when_its_part_is_painted(qtbot: QtBot, worker: SerialWorker) -> None:
    widget = QLabel("0")
    qtbot.addWidget(widget)
    with qtbot.waitExposed(widget):
        widget.show()
    seen: list[str] = []

    class Painted(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
            if event.type() is QEvent.Type.Paint:
                seen.append(f"painted {widget.text()}")
            return super().eventFilter(watched, event)

    painted = Painted()
    widget.installEventFilter(painted)

    def work(context: TaskContext) -> None:
        for number in (1, 2):
            context.part(str(number))
            seen.append(f"went on after {number}")

    worker.submit(work, on_result=lambda _: None, on_error=fail, on_part=widget.setText)
    qtbot.waitUntil(lambda: not worker.busy)
    assert seen == ["painted 1", "went on after 1", "painted 2", "went on after 2"]


def test_dropped_work_does_not_wait_for_its_part(qtbot: QtBot, worker: SerialWorker) -> None:
    posted, ended = threading.Event(), threading.Event()

    def work(context: TaskContext) -> None:
        posted.set()
        context.part("never shown: the window takes nothing meanwhile")
        ended.set()

    task = worker.submit(work, on_result=fail, on_error=fail, on_part=fail)
    assert posted.wait(10)
    task.drop()
    assert ended.wait(10)


def test_of_reports_that_wait_the_window_gets_the_last(qtbot: QtBot, worker: SerialWorker) -> None:
    reported = threading.Event()
    seen: list[int] = []

    def work(context: TaskContext) -> None:
        for done in range(100):
            context.report(Progress(done, 100, "counting"))
        reported.set()

    worker.submit(
        work,
        on_result=lambda _: seen.append(-1),
        on_error=fail,
        on_progress=lambda progress: seen.append(progress.done),
    )
    assert reported.wait(10)
    qtbot.waitUntil(lambda: not worker.busy)
    assert seen == [99, -1]


def test_other_events_come_between_outcomes_that_take_long(
    qtbot: QtBot, worker: SerialWorker
) -> None:
    done = threading.Event()
    seen: list[str] = []

    def take(_: None) -> None:
        QTimer.singleShot(0, lambda: seen.append("event"))
        end = threading.Event()
        end.wait(0.02)  # longer than a turn
        seen.append("outcome")

    for _ in range(3):
        worker.submit(lambda _: None, on_result=take, on_error=fail)
    worker.submit(lambda _: done.set(), on_result=lambda _: None, on_error=fail)
    assert done.wait(10)
    qtbot.waitUntil(lambda: seen.count("event") == 3)
    assert seen == ["outcome", "event"] * 3
