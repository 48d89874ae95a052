"""The tasks that users come for, walked by real events: with the mouse, and with keys alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from benchmarks.user_hands import Counts, Hands
from benchmarks.user_tasks import DEVICES, TASKS, prepare, slowest_operator, walk
from ctm_gui.application import Application
from ctm_gui.devices.library import DeviceLibrary

COMPARED, SLOWEST, OWN, REPORT, _ = TASKS
CHOSEN_FROM = ("jetson-orin-nano-gpu", "rpi5")


@pytest.fixture
def app(
    make_application: Callable[..., Application], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Application:
    by_id = DeviceLibrary.by_id
    # A choice among all devices takes seconds.
    monkeypatch.setattr(
        DeviceLibrary, "by_id", lambda library: {key: by_id(library)[key] for key in CHOSEN_FROM}
    )
    made = make_application()
    made.workspace.machine.is_automatic = False
    made.start()
    made.window.resize(1280, 800)
    qtbot.waitUntil(lambda: made.window.central.is_built)
    return made


@pytest.mark.qt_log_ignore("This plugin does not support .*", extend=True)  # of popups, offscreen
@pytest.mark.parametrize("by_keys", [False, True], ids=["mouse", "keys"])
def test_every_task_is_walked_within_its_goal(
    app: Application, tmp_path: Path, *, by_keys: bool
) -> None:
    counts: dict[str, Counts] = {}
    for task in TASKS:
        prepare(task, app, tmp_path)
        counts[task.title] = walk(task, app, by_keys=by_keys)
        task.reached(app, Hands(app.window))
        if task is COMPARED:
            assert set(app.workspace.selection.selected_ids) == set(DEVICES.values())
        if task is SLOWEST:
            check_slowest(app)
    chosen = app.window.central.choice.chosen
    assert chosen is not None
    assert {option.target.device.id for option in chosen.options} == set(CHOSEN_FROM)
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    over = {t.title: counts[t.title].words for t in TASKS if t.counted(counts[t.title]) > t.goal}
    assert not over if not by_keys else all(of.clicks == 0 for of in counts.values())
    assert not by_keys or counts[SLOWEST.title].keys == 2


def check_slowest(app: Application) -> None:
    table = app.window.central.explanation.table
    assert table is not None
    slowest = int(table.latency_ms.argmax())
    name, bound = slowest_operator(app)
    assert table.latency_ms[list(table.names).index(name)] == table.latency_ms[slowest]
    assert bound == table.bound_type[list(table.names).index(name)]


def test_counts_are_told_in_words() -> None:
    counts = Counts(clicks=2, entries=1, keys=3)
    assert (counts.words, counts.total) == ("2 clicks, 1 entry, 3 keys", 6)
    assert REPORT.counted(counts) == 6
    assert COMPARED.counted(counts) == 5
    assert OWN.goal == 6
