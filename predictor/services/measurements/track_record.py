"""The track record of the shipped estimate, as a JSON document and as a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from predictor.calibration.goals import KNOWN, LEAST_SILICON, UNSEEN, goal_of
from predictor.core.markdown import table
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.estimate import Track
from predictor.services.measurements.origin import engine_facts
from predictor.services.prediction.engines import CLOSERTOME, checkpoint_folder

SCHEMA: Final = "ctm-track-record/1"

Entry = Mapping[str, Any]

# The settings of goals, by the names of the estimate's tracks.
_PROBED, _MEASURED = "probed", "measured"
_SETTINGS: Final = {
    UNSEEN: "unseen",
    KNOWN: "near",
    _PROBED: "probed",
    _MEASURED: "measured",
}
_TITLES: Final = {
    UNSEEN: "Hardware not seen",
    KNOWN: "Chip known from another device",
    _PROBED: "Hardware not seen, 3 or 8 networks measured",
    _MEASURED: "Hardware not seen, 12 networks measured",
}
_NOTES: Final = {
    UNSEEN: "No measurement of the chip was in training, under any runtime. An interval reaches "
    "from the\nnumber divided by the factor to the number times the factor.",
    KNOWN: "The device was left out; another device with its chip, or its cores, was in training "
    "under the\nsame runtime. The more of the chip was measured, the narrower the interval: the "
    "factors are those of\nthe median target.",
    _PROBED: "As after a probing: some networks of a target were drawn, and the others asked.",
    _MEASURED: "As where published measurements of a target come with the program.",
}
_METHOD: Final = """\
Numbers for hardware without measurements come from the estimate (`docs/engine.md`). This is how far
off it was on published measurements that it had not seen. It was fitted ten times, each time
without a tenth of the chips (or of the devices whose chip stays in training), and asked for them.
Of each chip the median error over its networks counts, each network once; of a class the median
over its chips, each chip once. Chips of one design and cores are one. A class is a kind of device
and a runtime. It stands here from three chips on; one with fewer takes the record of its runtime,
else of its kind of device, else of all, and on an unseen chip its predictions say so.

Widths are those that intervals needed to cover 80 and 95 % of these measurements, each chip counted
the same; those of a class of few chips lean to its kind of device, or to all where that has none,
half at {least} chips: its own say little. Widths were set on the folds that they cover, so the
shares there hold by construction and are no further test. Goals are for classes of at least {least}
chips; an error that reaches its goal is bold."""


def track_record() -> dict[str, object]:
    """Return the record of the estimate that ships, by group of targets.

    Raises:
        InputError: the checkpoint is damaged.
    """
    estimate = read_checkpoint(checkpoint_folder()).estimate
    return {
        "schema": SCHEMA,
        **engine_facts(CLOSERTOME),
        "settings": {
            setting: [
                _entry(setting, group, track) for group, track in estimate.tracks[name].items()
            ]
            for setting, name in _SETTINGS.items()
        },
    }


def _entry(setting: str, group: str, track: Track) -> dict[str, object]:
    kind, is_class, runtime = group.partition(" x ")
    goal = goal_of(kind, runtime, setting) if track.silicon >= LEAST_SILICON else None
    return {
        "group": group,
        "is_class": bool(is_class),
        "chips": track.silicon,
        "devices": track.devices,
        "error_percent": round(100 * track.error, 2),
        "goal": None if goal is None else asdict(goal),
        "deviations80": track.wide80,
        "deviations95": track.wide95,
        "factor80": math.exp(track.wide80 * track.spread),
        "factor95": math.exp(track.wide95 * track.spread),
    }


def page(document: Entry, origin: str) -> str:
    """Return the page of a document.

    Args:
        document: of :func:`track_record`.
        origin: command, place and time of the page.
    """
    parts = ["# Track record of the estimate", origin, _METHOD.format(least=LEAST_SILICON)]
    for setting, entries in document["settings"].items():
        classes = [entry for entry in entries if entry["is_class"]]
        others = [entry for entry in entries if not entry["is_class"]]
        parts += [f"## {_TITLES[setting]}", _reached(classes), _NOTES[setting], _table(classes)]
        parts += ["All, kinds of devices and runtimes by themselves:", _table(others)]
    return "\n\n".join(parts) + "\n"


def _reached(entries: Sequence[Entry]) -> str:
    """Return how many classes reach their goals."""
    with_goal = [entry for entry in entries if entry["goal"]]
    counts = [
        sum(entry["error_percent"] <= entry["goal"][name] for entry in with_goal)
        for name in ("goal", "moonshot")
    ]
    return f"Classes at their goal: {counts[0]} of {len(with_goal)}; at the moonshot: {counts[1]}."


def _table(entries: Sequence[Entry]) -> str:
    """Return the rows of groups, those of most chips first."""
    header = ["", "chips", "devices", "median error %", "goal %", "moonshot %"]
    header += [f"{share} % interval, factor" for share in (80, 95)]
    ordered = sorted(entries, key=lambda entry: (-entry["chips"], entry["group"]))
    return table(header, [_row(entry) for entry in ordered])


def _row(entry: Entry) -> list[object]:
    goal, error = entry["goal"], entry["error_percent"]
    words = f"{error:.1f}"
    return [
        *(entry["group"], entry["chips"], entry["devices"]),
        f"**{words}**" if goal and error <= goal["goal"] else words,
        *(f"{goal[name]:.0f}" if goal else None for name in ("goal", "moonshot")),
        *(entry[f"factor{share}"] for share in (80, 95)),
    ]
