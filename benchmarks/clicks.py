"""Clicks, typed entries and keys that users' tasks take, walked by real events in the real window.

A task goes on from where the one before it ended. A double click and a drop of files are one click;
words or numbers typed at once are one entry, with the Enter that ends them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.common import Table, publish
from benchmarks.running_window import running_window
from benchmarks.user_hands import Counts, Hands
from benchmarks.user_tasks import TASKS, UserTask, prepare, walk

_HEADER = ("task", "before", "goal", "by mouse", "", "by keys alone")
_NOTE = (
    "Before: a newcomer's walk of the window with eleven tabs. The goal of the first two tasks is "
    "of clicks, of the others of clicks and entries together. What a task reaches is checked."
)


def main() -> int:
    """Print the table; return 1 where a task takes more than its goal by mouse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="also write NAME.json and NAME.md here")
    options = parser.parse_args()
    by_mouse, by_keys = (_walked(by_keys=by_keys) for by_keys in (False, True))
    rows = [_row(*of_task) for of_task in zip(TASKS, by_mouse, by_keys, strict=True)]
    figures = [
        {"task": task.title, "goal": task.goal, "by_mouse": mouse.words, "by_keys": keys.words}
        for task, mouse, keys in zip(TASKS, by_mouse, by_keys, strict=True)
    ]
    title = "Clicks of the tasks that users come for"
    publish("clicks", title, Table(_HEADER, rows), figures, options.output, (_NOTE,))
    return 0 if all(map(_holds, TASKS, by_mouse)) else 1


def _holds(task: UserTask, counts: Counts) -> bool:
    return task.counted(counts) <= task.goal


def _walked(*, by_keys: bool) -> list[Counts]:
    """Walk all tasks in a program of their own."""
    with tempfile.TemporaryDirectory() as name, running_window(Path(name)) as app:
        counts = []
        for task in TASKS:
            prepare(task, app, Path(name))
            counts.append(walk(task, app, by_keys=by_keys))
            task.reached(app, Hands(app.window))
        return counts


def _row(task: UserTask, by_mouse: Counts, by_keys: Counts) -> tuple[str, ...]:
    verdict = "ok" if _holds(task, by_mouse) else "EXCEEDED"
    return (task.title, task.before, str(task.goal), by_mouse.words, verdict, by_keys.words)


if __name__ == "__main__":
    sys.exit(main())
