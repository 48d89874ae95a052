"""The track record of the shipped estimate, as a JSON document and as a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from predictor.engine import track
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.track import COUNTS, Track
from predictor.presentation.markdown import table
from predictor.services.measurements.origin import engine_facts
from predictor.services.prediction.engines import CLOSERTOME, checkpoint_folder

SCHEMA: Final = "ctm-track-record/2"

Entry = Mapping[str, Any]
Columns = Mapping[str, Callable[[Entry], object]]
"""Cells of an entry, by the header of their column."""

UNSEEN: Final = "unseen"
"""The setting in which no measurement of the silicon is known."""

SAME_CHIP: Final = "known"
"""The setting in which another device of the silicon was measured in the class."""

_SPANS: Final = ("1 or 2 networks", "3 to 5 networks", "6 to 11 networks", "12 networks or more")
# Settings, by the cases of the estimate's records.
_SETTINGS: Final = {
    UNSEEN: track.UNSEEN,
    SAME_CHIP: track.CHIP,
    **{f"k={count}": case for count, case in zip(COUNTS, track.PROBED, strict=True)},
    **{f"published {count}": case for count, case in zip(COUNTS, track.MEASURED, strict=True)},
}
_TITLES: Final = {
    UNSEEN: "Hardware not seen",
    SAME_CHIP: "Chip known from another device",
    **{
        f"k={count}": f"Hardware not seen, {span} measured by the user"
        for count, span in zip(COUNTS, _SPANS, strict=True)
    },
    **{
        f"published {count}": f"Hardware not seen, {span} published"
        for count, span in zip(COUNTS, _SPANS, strict=True)
    },
}
_NOTES: Final = {
    UNSEEN: "No measurement of the chip was in training, under any runtime. An interval reaches "
    "from the\nnumber divided by the factor to the number times the factor.",
    SAME_CHIP: "The device was left out; another device with its chip, or its cores, was in "
    "training under the\nsame runtime. The more of the chip was measured, the narrower the "
    "interval: the factors are those of\nthe median target.",
    f"k={COUNTS[0]}": "As after a probing: the least number of networks of a target was drawn, and "
    "the others asked.",
    f"published {COUNTS[0]}": "As where published measurements of a target come with the program: "
    "they count with level and shape\nalone.",
}
METHOD: Final = """\
Numbers for hardware without measurements come from the estimate (`docs/engine.md`). This is how far
off it was on published measurements that it had not seen. It was fitted ten times, each time
without a tenth of the chips (or of the devices whose chip stays in training), and asked for them.
Of each chip the median error over its networks counts, each network once; of a class the median
over its chips, each chip once. Chips of one design and cores are one. A class is a kind of device
and a runtime. It stands here from three chips on; one with fewer takes the record of its runtime,
else of its kind of device, else of all, and on an unseen chip its predictions say so. A precision
of a class has a record of its own from four chips on.

*Other sources*: the same error where whoever published the measurements was left out too, in five
further trainings, each without a fifth of all measurements. Where one publisher alone measured a
class, nothing of the class is left then.

Widths are those that intervals needed to cover 80 and 95 % of these measurements, each chip counted
the same; those of a class of few chips lean to its kind of device, or to all where that has none,
half at 8 chips: its own say little. *Held* is the share of measurements in 80 % intervals
whose widths were set on other chips, in five parts."""


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
            setting: [_entry(group, record) for group, record in estimate.tracks[name].items()]
            for setting, name in _SETTINGS.items()
        },
    }


def _entry(group: str, record: Track) -> dict[str, object]:
    return {
        "group": group,
        "is_class": " x " in group,
        "chips": record.silicon,
        "devices": record.devices,
        "error_percent": round(100 * record.error, 2),
        "other_sources_percent": _percent(record.other_sources),
        "held80_percent": _percent(record.covered),
        "deviations80": record.wide80,
        "deviations95": record.wide95,
        "factor80": math.exp(record.wide80 * record.spread),
        "factor95": math.exp(record.wide95 * record.spread),
    }


def _percent(part: float | None) -> float | None:
    return None if part is None else round(100 * part, 2)


def _figure(name: str, form: str) -> Callable[[Entry], object]:
    """Return the cell of a figure, empty where there is none."""

    def cell(entry: Entry) -> object:
        return None if entry[name] is None else format(entry[name], form)

    return cell


ERROR: Final = "median error %"
COLUMNS: Final[Columns] = {
    "": itemgetter("group"),
    "chips": itemgetter("chips"),
    "devices": itemgetter("devices"),
    ERROR: _figure("error_percent", ".1f"),
    "other sources %": _figure("other_sources_percent", ".1f"),
    "held %": _figure("held80_percent", ".1f"),
    "80 % interval, factor": itemgetter("factor80"),
    "95 % interval, factor": itemgetter("factor95"),
}


def page(
    document: Entry,
    origin: str,
    columns: Columns = COLUMNS,
    method: str = METHOD,
    summary: Callable[[Sequence[Entry]], str] | None = None,
) -> str:
    """Return the page of a document.

    Args:
        document: of :func:`track_record`.
        origin: command, place and time of the page.
        columns: of its tables.
        method: says what the figures are.
        summary: of the classes of a setting, before its table.
    """
    parts = ["# Track record of the estimate", origin, method]
    for setting, entries in document["settings"].items():
        classes = [entry for entry in entries if entry["is_class"]]
        groups = [entry for entry in entries if not entry["is_class"]]
        lead = [] if summary is None else [summary(classes)]
        parts += [f"## {_TITLES[setting]}", *lead, *_note(setting), _table(classes, columns)]
        parts += ["All, kinds of devices and runtimes by themselves:", _table(groups, columns)]
    return "\n\n".join(parts) + "\n"


def _note(setting: str) -> list[str]:
    return [_NOTES[setting]] if setting in _NOTES else []


def _table(entries: Sequence[Entry], columns: Columns) -> str:
    """Return the rows of groups, those of most chips first."""
    ordered = sorted(entries, key=lambda entry: (-entry["chips"], entry["group"]))
    return table(list(columns), [[cell(entry) for cell in columns.values()] for entry in ordered])
