"""Runs of one thread side by side on a processor: FunASR's recogniser over its concurrent tasks.

Its C++ program makes one stream a task, one thread each. Expected is one task's rate times the
tasks, at most times the cores.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.sources.tables import read_rows

_TASKS: Final = re.compile(r"with (\d+) concurrent")
_CORES: Final = re.compile(r"(\d+) ?core")
_HALF: Final = 0.5


def turn_figures(data: Path) -> list[dict[str, Any]]:
    """Return the rates that were measured over the expected ones, by cores and share of them.

    Raises:
        InputError: the table is missing or damaged.
    """
    shares: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    alone: dict[tuple[str, ...], float] = {}
    path = data / "harvest" / "x86_small_tables.csv.gz"
    for row in read_rows(path, ("device", "model", "precision", "metric", "value", "note")):
        tasks, cores = _TASKS.search(row["note"]), _CORES.search(row["note"])
        if row["metric"] != "rtf" or not row["note"].startswith("C++") or not tasks or not cores:
            continue
        key = (row["device"], row["model"], row["precision"])
        count, most = int(tasks[1]), int(cores[1])
        if count == 1:  # begins a table
            alone[key] = row.positive("value")
        elif key in alone:
            expected = min(count, most)
            part = _part(count / most)
            shares[row["device"], most, part].append(alone[key] / row.positive("value") / expected)
    return [
        {
            "device": device,
            "cores": count,
            "tasks": part,
            "rows": len(values),
            "low": float(np.min(values)),
            "median": float(np.median(values)),
            "high": float(np.max(values)),
        }
        for (device, count, part), values in sorted(shares.items())
    ]


def _part(share: float) -> str:
    if share <= _HALF:
        return "up to half of the cores"
    return "all cores" if share <= 1 else "more than cores"
