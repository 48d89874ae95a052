"""Garbage in the window's event loop: the oldest objects by their growth."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QObject

from ctm_gui.event_loop import GarbageTimer


class Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def garbage(qapp: QCoreApplication) -> Iterator[GarbageTimer]:
    thresholds = gc.get_threshold()
    parent = QObject(qapp)
    # Every call finds the collection of all generations due.
    gc.set_threshold(1, 1, 1)
    yield GarbageTimer(parent)
    gc.set_threshold(*thresholds)
    gc.enable()
    parent.deleteLater()


def dropped() -> weakref.ref[Cycle]:
    """Return a cycle that became garbage when it was one of the oldest objects."""
    cycle = Cycle()
    gc.collect(1)
    return weakref.ref(cycle)


def test_the_oldest_garbage_is_collected_when_the_oldest_objects_have_grown_by_a_quarter(
    garbage: GarbageTimer,
) -> None:
    lasting: list[object] = [[number] for number in range(10_000)]

    def collect() -> None:
        for _ in range(3):
            gc.collect(1)
            lasting.append([[] for _ in range(10)])  # past the threshold of the youngest
            garbage.collect_if_due()

    first = dropped()
    collect()
    assert first() is None  # 10 000 objects after none

    second = dropped()
    lasting.extend([[number] for number in range(1_000)])
    collect()
    assert second() is not None  # a tenth more

    lasting.extend([[number] for number in range(4_000)])
    collect()
    assert second() is None


def test_what_is_left_out_is_kept_and_the_rest_collected(garbage: GarbageTimer) -> None:
    kept = dropped()
    garbage.keep_all()
    young = weakref.ref(Cycle())
    gc.collect()
    assert kept() is not None
    assert young() is None


def test_many_young_objects_are_looked_through_once_they_are_fewer_or_stay(
    garbage: GarbageTimer,
) -> None:
    young = weakref.ref(Cycle())
    burst: list[object] = [[] for _ in range(30_000)]
    garbage.collect_if_due()
    assert young() is not None

    burst.clear()
    garbage.collect_if_due()
    assert young() is None

    young = weakref.ref(Cycle())
    burst.extend([] for _ in range(30_000))
    for _ in range(51):
        garbage.collect_if_due()
    assert young() is None
