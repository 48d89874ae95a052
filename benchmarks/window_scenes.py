"""The longest turn of the window's event loop in scenes with 20 000 predictions, 100 000 operators.

A turn is what the window's thread computes between two beats of a timer of 5 ms: it takes no key
meanwhile. It is measured in processor time of this machine. Beside it stands the same in ms of a
usual core, on which a small piece of reference work takes 3 ms; it runs before and after a scene.
Each figure is the least of some rounds: a shared core lengthens a turn by its cold caches.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject

from benchmarks.common import Figure, add_arguments, report
from benchmarks.large_model import turns, write_chain
from benchmarks.large_model import wait_until as wait_for
from benchmarks.running_window import running_window
from ctm_gui.application import Application
from ctm_gui.widgets.theme import ThemeChoice
from tests.support.heartbeat import LIMIT_MS, Heartbeat, slowness

PREDICTIONS, OPERATORS = 20_000, 100_000
_REST_MS = 400  # a scene goes on after its last event: layouts, deferred painting

_WAIT_MS = 300_000  # on a machine that does other things too

_NAMED = 3  # scenes, with their turns in ms of a usual core

Scene = Callable[[], object]
wait_until = partial(wait_for, limit_ms=_WAIT_MS)


class Turn(NamedTuple):
    """The longest turn of a scene, in ms: of processor time, and of a usual core."""

    computed_ms: float
    usual_ms: float


def _many(app: Application, folder: Path) -> Iterator[tuple[str, Scene]]:
    """Yield the scenes with many predictions, each at the state that the one before leaves."""
    workspace, window = app.workspace, app.window
    devices = [device.id for device in workspace.selection.devices]
    count = -(-PREDICTIONS // len(devices))
    models = folder / "many"
    models.mkdir()
    for number in range(count):
        write_chain(models / f"model{number:02}.onnx", 4 + number)
    wait_until(lambda: workspace.settled)
    window.central.focus_search()
    window.open_paths([str(models)])
    wait_until(lambda: workspace.settled and len(workspace.comparison.models) == count)
    chosen = list(workspace.selection.selected_ids)

    def settled() -> bool:
        return workspace.settled and window.central.compare_tabs.settled

    def tick(*, ticked: bool) -> None:
        workspace.selection.select(devices, selected=ticked)
        wait_until(settled)

    def type_into(box: QObject, text: str) -> None:
        for end in range(1, len(text) + 1):
            box.setText(text[:end])  # type: ignore[attr-defined]
            turns(60)

    table, targets = window.central.compare_view.table, window.targets_panel
    chart = window.central.compare_view.chart.rows_plot
    yield "tick every target", lambda: tick(ticked=True)
    yield "search in the targets", lambda: type_into(targets.search_box, "jetson orin nano")
    yield "clear that search", lambda: targets.search_box.setText("")
    yield "search in the predictions", lambda: type_into(table.search_box, "jetson orin nano")
    yield "clear that one", lambda: table.search_box.setText("")
    yield "sort", lambda: table.sort_by("device")
    yield (
        "scroll the chart",
        lambda: _scroll(chart.scroll_bar),
    )
    yield "a budget", lambda: app.options.set_budget_ms(5.0)
    yield "no budget", lambda: app.options.set_budget_ms(None)
    yield "one tick less", lambda: workspace.selection.select(devices[:1], selected=False)
    yield "one tick more", lambda: workspace.selection.select(devices[:1], selected=True)
    yield "dark", lambda: app.use_theme(ThemeChoice.DARK)
    yield "light", lambda: app.use_theme(ThemeChoice.LIGHT)
    yield "the matrix", lambda: window.show_compared(1)
    yield "back to the chart", lambda: window.show_compared(0)
    yield "Choose", lambda: window.show_page("hardware")
    yield "Answer again", lambda: window.show_page("compare")
    yield "undo of a tick", window.undo
    yield "untick every target", lambda: tick(ticked=False)
    workspace.selection.select(chosen, selected=True)
    workspace.shelf.remove(range(count))
    wait_until(settled)


def _large(app: Application, folder: Path) -> Iterator[tuple[str, Scene]]:
    """Yield the scenes with a large model, each at the state that the one before leaves."""
    workspace, window, path = app.workspace, app.window, folder / "large.onnx"
    write_chain(path, OPERATORS)
    central, explanation = window.central, window.central.explanation

    def settled() -> bool:
        return workspace.settled and explanation.settled and central.compare_tabs.settled

    def opened() -> None:
        window.open_paths([str(path)])
        wait_until(lambda: bool(workspace.comparison.models) and settled())

    def shown(page: str) -> None:
        window.show_page(page)
        wait_until(settled)

    def other(place: int) -> None:
        explanation.choose(0, place)
        wait_until(settled)

    table = central.operators_view.table
    window.show_page("compare")
    yield "open", opened
    for page in ("operators", "graph", "timeline", "roofline", "attention"):
        yield page, lambda page=page: shown(page)
    for page in ("attention", "roofline", "timeline", "operators"):
        window.show_page(page)
        turns(_REST_MS)
        for place in (1, 0):
            yield f"another target in {page}", lambda place=place: other(place)
    yield "sort by name", lambda: table.sort_by("name")
    yield "search", lambda: table.search_box.setText("block123")
    yield "scroll", lambda: _scroll(table.verticalScrollBar())
    yield "dark", lambda: app.use_theme(ThemeChoice.DARK)
    yield "light", lambda: app.use_theme(ThemeChoice.LIGHT)
    yield "close", lambda: workspace.shelf.remove([0])


def _scroll(bar: QObject) -> None:
    for step in range(1, 11):
        bar.setValue(bar.maximum() * step // 10)  # type: ignore[attr-defined]
        turns(20)


@contextmanager
def _window() -> Iterator[tuple[Application, Path]]:
    with tempfile.TemporaryDirectory() as name, running_window(Path(name)) as app:
        yield app, Path(name)


def _measured(part: str) -> dict[str, Turn]:
    """Return the longest turn of each scene of a part."""
    count, scenes = PARTS[part]
    made: dict[str, Turn] = {}
    heart = Heartbeat()
    with _window() as (app, folder):
        for name, scene in scenes(app, folder):
            turns(_REST_MS)
            heart.start()
            scene()
            turns(_REST_MS)
            what = f"{count}: {name}"
            usual_ms = heart.stop()
            turn = Turn(usual_ms * heart.slowness, usual_ms)
            made[what] = max(made.get(what, turn), turn)
    return made


PARTS: dict[str, tuple[str, Callable[[Application, Path], Iterator[tuple[str, Scene]]]]] = {
    "many": (f"{PREDICTIONS} predictions", _many),
    "large": (f"{OPERATORS} operators", _large),
}


def _round() -> dict[str, Turn]:
    """Return the turns of all parts, each in a window of a process of its own."""
    made: dict[str, Turn] = {}
    for part in PARTS:
        command = [sys.executable, "-m", "benchmarks.window_scenes", "--part", part]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        of_part = json.loads(done.stdout.splitlines()[-1])
        made |= {what: Turn(*of_scene) for what, of_scene in of_part.items()}
    return made


def main() -> int:
    """Print the figures; return 1 when one exceeds its limit."""
    parser = ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=3)
    parser.add_argument("--part", choices=PARTS, help="measure a part once, and print it as JSON")
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if options.part:
        print(json.dumps(_measured(options.part)))
        return 0
    paces = [slowness()]
    rounds = []
    for _ in range(options.repeats):
        rounds.append(_round())
        paces.append(slowness())
    least = {what: min(one[what] for one in rounds) for what in rounds[0]}
    figures = [
        Figure(what, turn.computed_ms, "ms", LIMIT_MS, "our target") for what, turn in least.items()
    ]
    longest = sorted(least.items(), key=lambda scene: -scene[1].usual_ms)[:_NAMED]
    usual = ", ".join(f"{turn.usual_ms:.1f} ({what.split(': ')[1]})" for what, turn in longest)
    title = "The longest turn of the window in scenes with much in it"
    note = (
        f"The least of {options.repeats} rounds each, in processor time of this machine. In ms of "
        f"a usual core the longest are {usual}; between the rounds the reference work took "
        f"{min(paces):.2f} to {max(paces):.2f} times as long as there."
    )
    return report("window_scenes", title, figures, options.output, [note])


if __name__ == "__main__":
    sys.exit(main())
