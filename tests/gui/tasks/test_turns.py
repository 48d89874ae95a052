"""Work in turns of the event loop."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot
from shiboken6 import delete, isValid

from ctm_gui.tasks.turns import NextTurn, in_turns


@pytest.fixture
def log() -> list[str]:
    return []


def stretches(log: list[str], name: str, count: int = 2) -> Iterator[None]:
    for number in range(count):
        log.append(f"{name}{number}")
        yield


def wait(qtbot: QtBot, owner: QObject) -> None:
    qtbot.waitUntil(lambda: not owner.findChildren(QTimer, "turns"))


def test_works_take_turns_and_timers_that_are_due_come_between(
    qtbot: QtBot, log: list[str]
) -> None:
    owner = QObject()
    for name in "ab":
        in_turns(stretches(log, name), owner)
    timer = QTimer(owner, interval=0)
    timer.timeout.connect(lambda: log.append("-"))
    timer.start()
    wait(qtbot, owner)
    works = [entry for entry in log if entry != "-"]
    assert works == ["a0", "b0", "a1", "b1"]
    places = [log.index(entry) for entry in works]
    assert all(after - before > 1 for before, after in pairwise(places))


def test_the_rest_is_left_undone_with_its_owner_and_others_go_on(
    qtbot: QtBot, log: list[str]
) -> None:
    first, second, third = QObject(), QObject(), QObject()

    def end_itself() -> Iterator[None]:
        yield
        delete(third)
        yield

    in_turns(stretches(log, "a"), first)
    in_turns(stretches(log, "b"), second)
    in_turns(end_itself(), third)
    delete(first)
    wait(qtbot, second)
    assert log == ["b0", "b1"]
    in_turns(stretches(log, "c"), second)
    wait(qtbot, second)
    assert log[2:] == ["c0", "c1"]


def test_a_failure_ends_its_own_work_alone(qtbot: QtBot, log: list[str]) -> None:
    owner = QObject()

    def fail() -> Iterator[None]:
        yield
        raise ValueError

    with qtbot.captureExceptions() as failures:
        in_turns(fail(), owner)
        in_turns(stretches(log, "a"), owner)
        wait(qtbot, owner)
    assert log == ["a0", "a1"]
    assert [kind for kind, *_ in failures] == [ValueError]


def test_one_piece_has_a_turn_of_its_own_however_often_it_is_asked(
    qtbot: QtBot, log: list[str]
) -> None:
    owner = QObject()
    pieces = [NextTurn(partial(log.append, name), owner) for name in "abc"]
    in_turns(stretches(log, "w", 1), owner)
    for piece in pieces:
        piece.start()
    pieces[0].start()
    pieces[1].stop()
    timer = QTimer(owner, interval=0)
    timer.timeout.connect(lambda: log.append("-"))
    timer.start()
    qtbot.waitUntil(lambda: "c" in log)
    works = [entry for entry in log if entry != "-"]
    assert works == ["w0", "a", "c"]
    places = [log.index(entry) for entry in works]
    assert all(after - before > 1 for before, after in pairwise(places))
    assert not pieces[0].is_waiting


def test_a_piece_goes_with_its_owner_and_others_go_on(qtbot: QtBot, log: list[str]) -> None:
    first, second = QObject(), QObject()
    NextTurn(partial(log.append, "a"), first).start()
    NextTurn(partial(log.append, "b"), second).start()
    delete(first)
    qtbot.waitUntil(lambda: bool(log))
    assert log == ["b"]


def test_a_piece_that_is_asked_for_after_its_owner_holds_up_no_other(
    qtbot: QtBot, log: list[str]
) -> None:
    first, second = QObject(), QObject()
    piece = NextTurn(partial(log.append, "a"), first)
    delete(first)
    piece.start()
    piece.stop()
    piece.start()
    NextTurn(partial(log.append, "b"), second).start()
    qtbot.waitUntil(lambda: bool(log))
    assert log == ["b"]


def test_a_piece_may_end_its_own_owner(qtbot: QtBot, log: list[str]) -> None:
    first, second = QObject(), QObject()
    NextTurn(lambda: delete(first), first).start()
    NextTurn(partial(log.append, "b"), second).start()
    qtbot.waitUntil(lambda: bool(log))
    assert not isValid(first)
