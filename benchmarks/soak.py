"""Random actions in the window for minutes: exceptions, stalls and memory.

``python -m benchmarks.soak --minutes 10``. Files are opened, networks, language models and loads,
sound and damaged ones, and closed, targets ticked, tabs and pages turned, values typed, and
whatever widget is in view is clicked or given keys; dialogs open and close among that. File dialogs
answer with a path of a temporary folder or with none. Nothing is measured or printed, and the
program is not ended.

A stall is a gap of a timer of 5 ms on the window's thread, less what the thread waited for a
processor, which Linux counts. The seed gives the same choices; what they meet depends on the time
that work takes. Without a display Qt draws offscreen.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from types import TracebackType

if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    Qt,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QWidget,
)

from benchmarks.common import Figure, report
from benchmarks.large_model import thread_times, turns, write_chain
from benchmarks.memory import resident_mib
from ctm_gui.application import Application
from ctm_gui.compare.tabs import PAGES
from ctm_gui.targets.what_ifs import WhatIf
from ctm_gui.window.actions import ACTIONS
from predictor.core.records import Precision
from predictor.core.resources import resources_dir
from predictor.core.text import plural
from tests.fuzz import documents, language, onnx_mutator, tables
from tests.support.public_models import CONFIGS

STALL_MS = 50.0
_BEAT_MS = 5
_LOOK_S, _REST_MS = 5.0, 5000
_MOST_TARGETS = 60
_LEFT_OUT = {"quit", "whats_this", "system_information"}
# Buttons that measure this machine for minutes, or ask a printer.
_NOT_PRESSED = ("start", "measure", "print", "fine-tune", "go on")
_TEXTS = ("", "conv", "12", "-1", "1e9", "ä\u202e", "a,b", "128", "0", "x" * 300, "nan", "3.5 ms")
_KEYS = (
    Qt.Key.Key_Tab, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Left, Qt.Key.Key_Right,
    Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Space, Qt.Key.Key_Home, Qt.Key.Key_End,
    Qt.Key.Key_PageDown, Qt.Key.Key_Delete, Qt.Key.Key_F6, Qt.Key.Key_F1, Qt.Key.Key_A,
)  # fmt: skip


class Heart(QObject):
    """Notes the stalls of the window's thread, each with the action before it."""

    def __init__(self) -> None:
        super().__init__()
        self.doing = "starting"
        self.stalls: list[tuple[float, str]] = []
        self._last = thread_times()[0]
        self._timer = QTimer(self, interval=_BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = thread_times()[0]
        gap_ms = (now - self._last) * 1e3
        self._last = now
        if gap_ms > STALL_MS:
            self.stalls.append((gap_ms, self.doing))


class Faults:
    """Exceptions that nothing handled, and warnings of Qt."""

    def __init__(self, heart: Heart) -> None:
        self._heart = heart
        self.texts: list[str] = []
        sys.excepthook = self._on_exception
        qInstallMessageHandler(self._on_message)

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        last = traceback.extract_tb(trace)[-1:]
        place = f"{Path(last[0].filename).name}:{last[0].lineno}" if last else "?"
        self.texts.append(f"{kind.__name__} at {place} after {self._heart.doing}: {error}"[:300])
        traceback.print_exception(kind, error, trace)

    def _on_message(self, level: QtMsgType, _: QMessageLogContext, text: str) -> None:
        # The platform without a screen says what it lacks at every window.
        if level is not QtMsgType.QtDebugMsg and "This plugin does not support" not in text:
            self.texts.append(f"Qt after {self._heart.doing}: {text}"[:300])


class Soak:
    """A user without a plan."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - no secret
        self._folder = folder
        self._files = _files(folder, self._rng)
        self.app = Application(folder / "store.db", folder / "window.ini")
        self.app.workspace.machine.is_automatic = False  # it would disturb
        self.app.window.resize(1280, 800)
        self.heart = Heart()
        self.faults = Faults(self.heart)
        self.actions = Counter[str]()
        self._answer_dialogs()
        self.app.start()
        turns(2000)
        self._kinds: tuple[tuple[Callable[[], str], int], ...] = (
            (self._open, 10),
            (self._close, 8),
            (self._tick, 10),
            (self._ask_what_if, 3),
            (self._turn_to, 10),
            (self._trigger, 6),
            (self._click, 30),
            (self._type, 20),
            (self._dismiss, 10),
        )

    def act(self) -> None:
        """Do one thing and let the window answer."""
        calls, weights = zip(*self._kinds, strict=True)
        call = self._rng.choices(calls, weights)[0]
        self.heart.doing = call.__name__.strip("_")
        self.heart.doing = done = call()
        self.actions[done.partition(" ")[0]] += 1
        turns(self._rng.choice((1, 5, 20, 100)))

    def _open(self) -> str:
        paths = self._rng.sample(self._files, self._rng.randint(1, 4))
        self.app.window.open_paths([str(path) for path in paths])
        return f"open {', '.join(path.name for path in paths)}"

    def _close(self) -> str:
        shelf, stack = self.app.workspace.shelf, self.app.workspace.undo_stack
        if self._rng.random() < 0.3:
            self._rng.choice((stack.undo, stack.redo))()
            return "undo or redo"
        count = len(shelf.entries)
        rows = self._rng.sample(range(count), min(count, self._rng.choice((1, 1, 2, 20))))
        shelf.remove(rows)
        return f"close {len(rows)} models"

    def _tick(self) -> str:
        selection, library = self.app.workspace.selection, self.app.workspace.library
        ticked = [device.id for device in selection.selected]
        if len(ticked) > _MOST_TARGETS:
            # All of a group, or all there are, by one click: the rest of the time is for fewer.
            selection.select(ticked[10:], selected=False)
            return f"untick {len(ticked) - 10} targets"
        if ticked and self._rng.random() < 0.3:
            selection.select(ticked[:1], selected=False)
            return "untick 1 target"
        ids = self._rng.sample(list(library.by_id()), self._rng.choice((1, 2, 20)))
        selection.select(ids, selected=True)
        return f"tick {len(ids)} targets"

    def _ask_what_if(self) -> str:
        selection, choose = self.app.workspace.selection, self._rng.choice
        batch, threads = choose((None, 1, 2, 32, 10**6)), choose((None, 1, 4))
        what_if = WhatIf(batch, choose((None, *Precision)), threads)
        selection.set_what_if(choose(selection.devices), what_if)
        return "what-if"

    def _turn_to(self) -> str:
        shown, page = self._rng.choice(self.app.window.pages), self._rng.randrange(len(PAGES))
        self.app.window.show_page(self._rng.choice((shown, *shown.parts)).id)
        if self._rng.random() < 0.5:
            self.app.window.central.compare_tabs.show_page(page)
        return f"turn to {shown.title}, page {page}"

    def _trigger(self) -> str:
        spec = self._rng.choice([spec for spec in ACTIONS if spec.id not in _LEFT_OUT])
        action = self.app.window.actions_by_id[spec.id]
        if action.isEnabled():
            action.trigger()
        return f"action {spec.id}"

    def _click(self) -> str:
        widget = self._widget(QAbstractButton, QAbstractItemView, QComboBox)
        if widget is None or _is_left_out(widget):
            return "nothing"
        target = widget.viewport() if isinstance(widget, QAbstractItemView) else widget
        place = target.rect().center()
        if isinstance(widget, QAbstractItemView):
            place.setX(self._rng.randrange(max(target.width(), 1)))
            place.setY(self._rng.randrange(max(target.height(), 1)))
        if isinstance(widget, QComboBox):
            # A popup would grab the mouse.
            widget.setCurrentIndex(self._rng.randrange(max(widget.count(), 1)))
            widget.activated.emit(widget.currentIndex())
        elif self._rng.random() < 0.2:
            QTest.mouseDClick(target, Qt.MouseButton.LeftButton, pos=place)
        else:
            QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=place)
        return f"click {_name(widget)}"

    def _type(self) -> str:
        widget = self._widget(QLineEdit, QAbstractSpinBox, QAbstractItemView, QComboBox)
        if widget is None:
            return "nothing"
        widget.setFocus()
        if isinstance(widget, QLineEdit) and not widget.isReadOnly():
            widget.selectAll()
            text = self._rng.choice(_TEXTS)
            # Qt's test library ends the process at letters that have no key.
            _press(widget, text) if text.isascii() else widget.insert(text)
        for _ in range(self._rng.randint(1, 4)):
            focused = QApplication.focusWidget() or self.app.window
            if not _is_left_out(focused):
                QTest.keyClick(focused, self._rng.choice(_KEYS))
        return f"type into {_name(widget)}"

    def _dismiss(self) -> str:
        others = [w for w in QApplication.topLevelWidgets() if w is not self.app.window]
        for widget in others:
            if widget.isVisible() and (widget.isWindow() and self._rng.random() < 0.7):
                widget.close()
        return "dismiss dialogs"

    def _widget(self, *kinds: type[QWidget]) -> QWidget | None:
        top = QApplication.activeModalWidget() or QApplication.activeWindow() or self.app.window
        every = [w for kind in kinds for w in top.findChildren(kind)]
        shown = [w for w in every if w.isVisible() and w.isEnabled() and not w.size().isEmpty()]
        return self._rng.choice(shown) if shown else None

    def _answer_dialogs(self) -> None:
        """Let dialogs of the system answer at once, and close those that would wait for ever."""

        def path(*_: object, **__: object) -> tuple[str, str]:
            name = self._rng.choice(("out.pdf", "out.md", "out.png", "out.csv", "out.ctmproject"))
            return (str(self._folder / name) if self._rng.random() < 0.7 else "", "")

        def some(*_: object, **__: object) -> tuple[list[str], str]:
            return [str(each) for each in self._rng.sample(self._files, 2)], ""

        QFileDialog.getSaveFileName = path
        QFileDialog.getOpenFileName = path
        QFileDialog.getOpenFileNames = some
        QFileDialog.getExistingDirectory = lambda *_, **__: str(self._folder / "models")
        QDesktopServices.openUrl = lambda *_: True
        # A dialog that is run by exec keeps the action that opened it until somebody answers.
        self._closer = QTimer(interval=1000)
        self._closer.timeout.connect(_close_modal)
        self._closer.start()

    def close_models(self) -> float:
        """Close all models, wait, and return the memory."""
        shelf = self.app.workspace.shelf
        self.heart.doing = "the end"
        shelf.remove(range(len(shelf.entries)))
        turns(_REST_MS)
        return resident_mib()

    def end(self) -> None:
        """Close the window and all its work."""
        for widget in QApplication.topLevelWidgets():
            widget.close()
        self.app.close()


def _close_modal() -> None:
    widget = QApplication.activePopupWidget() or QApplication.activeModalWidget()
    if widget is not None:
        widget.close()


def _press(line: QLineEdit, text: str) -> None:
    """Press keys one after the other, as fast as the window takes them, while the line has them."""
    for letter in text:
        if QApplication.focusWidget() is not line:
            return
        QTest.keyClick(line, letter)
        QApplication.processEvents()


def _is_left_out(widget: QWidget) -> bool:
    words = widget.text() if isinstance(widget, QAbstractButton) else ""
    return any(word in words.replace("&", "").casefold() for word in _NOT_PRESSED)


def _name(widget: QWidget) -> str:
    words = widget.accessibleName() or (
        widget.text() if isinstance(widget, QAbstractButton) else ""
    )
    return f"{type(widget).__name__} {words.replace('&', '')[:40]}".strip()


def _files(folder: Path, rng: random.Random) -> list[Path]:
    """Write models, sound and damaged, and other files that the window takes."""
    models = folder / "models"
    models.mkdir()
    files = sorted((resources_dir() / "samples").glob("*.onnx"))
    for number in range(20):
        path = models / f"chain{number}.onnx"
        write_chain(path, rng.choice((1, 10, 100, 1000)), 16 + number)
        files.append(path)
    for number, (config, *_) in enumerate(CONFIGS.values()):
        path = models / str(number) / "config.json"
        path.parent.mkdir()
        path.write_text(json.dumps(config), encoding="utf-8")
        files.append(path)
    files += sorted((resources_dir() / "loads").glob("*.toml"))
    makers = (
        ("damaged{}.onnx", onnx_mutator.mutate),
        ("damaged{}.gguf", language.mutate_gguf),
        ("damaged{}.toml", tables.mutate),
        ("device{}.json", documents.mutate_device),
        ("team{}.ctmproject", documents.mutate_project),
    )
    for number in range(5):
        for name, mutate in makers:
            path = models / name.format(number)
            path.write_bytes(mutate(rng))
            files.append(path)
    return files


def main() -> int:
    """Act for some minutes, print the figures, and return 1 where anything was raised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="folder of the page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        soak = Soak(Path(name), options.seed)
        begin = look_s = time.monotonic()
        looks: list[float] = []
        while time.monotonic() - begin < 60 * options.minutes:
            soak.act()
            if time.monotonic() - look_s > _LOOK_S:
                look_s = time.monotonic()
                looks.append(resident_mib())
        closed = soak.close_models()
        soak.end()
    return _report(soak, looks, closed, options.output)


def _report(soak: Soak, looks: list[float], closed: float, output: Path | None) -> int:
    stalls, third = sorted(soak.heart.stalls, reverse=True), max(len(looks) // 3, 1)
    figures = [
        Figure("actions", sum(soak.actions.values()), ""),
        Figure("exceptions and warnings", len(soak.faults.texts), "", 0, "our target"),
        Figure(f"stalls over {STALL_MS:.0f} ms", len(stalls), ""),
        Figure("longest stall", stalls[0][0] if stalls else 0.0, "ms"),
        Figure("memory, first third of the time", median(looks[:third] or [0]), "MiB"),
        Figure("memory, last third of the time", median(looks[-third:] or [0]), "MiB"),
        Figure("most memory", max(looks, default=0.0), "MiB"),
        Figure("memory once all models are closed", closed, "MiB"),
    ]
    notes = [f"- {text}" for text in soak.faults.texts[:20]]
    kinds: dict[str, list[float]] = {}
    for gap_ms, doing in stalls:
        kinds.setdefault(" ".join(doing.split()[:3]), []).append(gap_ms)
    notes += [
        f"- {plural(len(gaps), 'stall')}, the longest of {gaps[0]:.0f} ms: {kind}"
        for kind, gaps in sorted(kinds.items(), key=lambda item: -sum(item[1]))[:20]
    ]
    done = ", ".join(f"{name} {count}" for name, count in soak.actions.most_common())
    notes = [f"Actions: {done}.", "\n".join(notes)] if notes else [f"Actions: {done}."]
    title = "Random actions in the window"
    return report("soak", title, figures, output, notes)


if __name__ == "__main__":
    sys.exit(main())
