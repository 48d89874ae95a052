"""The track record with the goals of its classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from ctm_research.goals import LEAST_SILICON, goal_of
from predictor.services.measurements import track_record as shipped
from predictor.services.measurements.track_record import COLUMNS, ERROR, Columns, Entry

_FIRST: Final = ("group", "is_class", "chips", "devices", "error_percent")  # before the goal
_GOALS: Final = f""" Goals are for classes of at least {LEAST_SILICON}
chips; an error that reaches its goal is bold."""


def track_record() -> dict[str, object]:
    """Return the record of the estimate that ships, by group of targets, with goals.

    Raises:
        InputError: the checkpoint is damaged.
    """
    document: dict[str, Any] = shipped.track_record()
    settings = {
        setting: [_with_goal(setting, entry) for entry in entries]
        for setting, entries in document["settings"].items()
    }
    return {**document, "settings": settings}


def _with_goal(setting: str, entry: Entry) -> dict[str, object]:
    kind, _, runtime = entry["group"].partition(" x ")
    goal = goal_of(kind, runtime, setting) if entry["chips"] >= LEAST_SILICON else None
    first = {name: entry[name] for name in _FIRST}
    return {**first, "goal": None if goal is None else asdict(goal), **entry}


def page(document: Entry, origin: str) -> str:
    """Return the page of a document.

    Args:
        document: of :func:`track_record`.
        origin: command, place and time of the page.
    """
    return shipped.page(document, origin, _columns(), _GOALS, _reached)


def _columns() -> Columns:
    """Return the columns of a record with those of goals after the error."""
    names = list(COLUMNS)
    place = names.index(ERROR)
    return {
        **{name: COLUMNS[name] for name in names[:place]},
        ERROR: _error,
        "goal %": partial(_goal, "goal"),
        "moonshot %": partial(_goal, "moonshot"),
        **{name: COLUMNS[name] for name in names[place + 1 :]},
    }


def _error(entry: Entry) -> object:
    words = COLUMNS[ERROR](entry)
    goal = entry["goal"]
    return f"**{words}**" if goal and entry["error_percent"] <= goal["goal"] else words


def _goal(name: str, entry: Entry) -> str | None:
    return f"{entry['goal'][name]:.0f}" if entry["goal"] else None


def _reached(entries: Sequence[Entry]) -> str:
    """Return how many classes reach their goals."""
    with_goal = [entry for entry in entries if entry["goal"]]
    counts = [
        sum(entry["error_percent"] <= entry["goal"][name] for entry in with_goal)
        for name in ("goal", "moonshot")
    ]
    return f"Classes at their goal: {counts[0]} of {len(with_goal)}; at the moonshot: {counts[1]}."
