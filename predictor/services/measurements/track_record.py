"""The track record of the shipped estimate, as a JSON document and as a page."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from predictor.core.resources import resources_dir
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

# Settings, by the cases of the estimate's records.
_SETTINGS: Final = {
    UNSEEN: track.UNSEEN,
    SAME_CHIP: track.CHIP,
    **{f"k={count}": case for count, case in zip(COUNTS, track.PROBED, strict=True)},
    **{f"published {count}": case for count, case in zip(COUNTS, track.MEASURED, strict=True)},
}


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
    further: str = "",
    summary: Callable[[Sequence[Entry]], str] | None = None,
) -> str:
    """Return the page of a document.

    Args:
        document: of :func:`track_record`.
        origin: command, place and time of the page.
        columns: of its tables.
        further: said of the figures behind what they are.
        summary: of the classes of a setting, before its table.
    """
    words = tomllib.loads((resources_dir() / "report" / "track_record.toml").read_text("utf-8"))
    parts = ["# Track record of the estimate", origin, words["method"] + further]
    for setting, entries in document["settings"].items():
        classes = [entry for entry in entries if entry["is_class"]]
        groups = [entry for entry in entries if not entry["is_class"]]
        lead = [] if summary is None else [summary(classes)]
        of_setting = words["settings"][setting]
        lead += [of_setting["note"]] if "note" in of_setting else []
        parts += [f"## {of_setting['title']}", *lead, _table(classes, columns)]
        parts += ["All, kinds of devices and runtimes by themselves:", _table(groups, columns)]
    return "\n\n".join(parts) + "\n"


def _table(entries: Sequence[Entry], columns: Columns) -> str:
    """Return the rows of groups, those of most chips first."""
    ordered = sorted(entries, key=lambda entry: (-entry["chips"], entry["group"]))
    return table(list(columns), [[cell(entry) for cell in columns.values()] for entry in ordered])
