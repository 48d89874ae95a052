"""MLPerf Power: watts at the wall of whole machines while a network runs.

``mlperf_power.csv`` beside the aliases of the sources has the lines of rounds 3.0 to 4.0, each with
the repository and commit that it was read from (MLCommons' aggregate, Apache License 2.0); only
those of systems that the data folder knows. SingleStream states joules of a query: its watts are
those over the latency.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.evaluation.throughput.forms import quantile
from ctm_research.sources.tables import Row, read_rows
from predictor.calibration.boards import board_watts
from predictor.core.records import Device
from predictor.core.resources import resources_dir
from predictor.cost.rates.power import rated_watts
from predictor.presentation.markdown import table

TABLE: Final = Path(__file__).parents[1] / "sources" / "mlperf_power.csv"
_COLUMNS: Final = ("system_id", "benchmark", "scenario", "value", "watts", "device",
                   "accelerators", "source")  # fmt: skip
_RUNS: Final = ("device", "board", "network", "watts", "source")
SINGLE: Final = "SingleStream"

INTRODUCTION: Final = """\
*MLPerf Power*: watts at the wall of the whole machine, rounds 3.0 to 4.0, ResNet-50 and RetinaNet.
SingleStream is one query after the other, *full load* Offline or Server. *Over stated*: those watts
over the stated ones of all its accelerators, median of the systems. *Full over single*: of
ResNet-50 on the same system, median. Machines are of several makers, with hosts from a phone's chip
to two processors of a server: no rule for the host follows."""


def mlperf_power(devices: Mapping[str, Device], path: Path = TABLE) -> dict[str, Any]:
    """Return what whole machines drew, by device, and how boards are off.

    Args:
        devices: the catalogue by id.
        path: of the table.

    Raises:
        InputError: the table is missing or damaged.
    """
    by: dict[str, list[Row]] = defaultdict(list)
    for row in read_rows(path, _COLUMNS):
        by[row["device"]].append(row)
    machines = [_machine(devices[name], rows) for name, rows in sorted(by.items())]
    return {
        "rows": sum(len(rows) for rows in by.values()),
        "machines": machines,
        "width": _width(),
        "boards": [
            {"device": name, "system": row["system_id"].rpartition("/")[2],
             "over": board.median / row.positive("watts")}
            for name, rows in sorted(by.items())
            if (board := board_watts(devices[name])) is not None
            for row in rows
            if row["scenario"] == SINGLE
        ],
    }  # fmt: skip


def _machine(device: Device, rows: Sequence[Row]) -> dict[str, Any]:
    single = [row for row in rows if row["scenario"] == SINGLE]
    full = [row for row in rows if row["scenario"] != SINGLE]
    of_system = {row["system_id"]: row for row in single if row["benchmark"] == "resnet50"}
    ratios = [
        row.positive("watts") / of_system[row["system_id"]].positive("watts")
        for row in full
        if row["system_id"] in of_system
    ]
    return {
        "device": device.id,
        "systems": len({row["system_id"] for row in rows}),
        "single_w": _median([row.positive("watts") for row in single]),
        "single": _over_stated(device, single),
        "full": _over_stated(device, full),
        "full_over_single": _median(ratios),
    }


def _over_stated(device: Device, rows: Sequence[Row]) -> float | None:
    rated = rated_watts(device)
    if rated is None:
        return None
    return _median([row.positive("watts") / rated / row.count("accelerators") for row in rows])


def _median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None


def _width() -> float:
    """Return the factor that 80 % of runs are within of the others, devices counting the same.

    Others are runs of another network, or on another board, of the same device.
    """
    by: dict[str, list[Row]] = defaultdict(list)
    for row in read_rows(resources_dir() / "power" / "runs.csv", _RUNS):
        by[row["device"]].append(row)
    errors: list[float] = []
    weights: list[float] = []
    for rows in by.values():
        own = []
        for row in rows:
            key = row["board"], row["network"]
            rest = [r.positive("watts") for r in rows if (r["board"], r["network"]) != key]
            if rest:
                own.append(abs(float(np.log(row.positive("watts") / np.median(rest)))))
        errors += own
        weights += [1 / len(own) for _ in own]
    return float(np.exp(quantile(np.array(errors), np.array(weights), 0.8)))


def mlperf_section(figures: Mapping[str, Any]) -> list[str]:
    """Return the figures as parts of a Markdown page."""
    rows = [
        (entry["device"], entry["systems"], _number(entry["single_w"], 1),
         *(_number(entry[name], 2) for name in ("single", "full", "full_over_single")))
        for entry in figures["machines"]
    ]  # fmt: skip
    header = ("device", "systems", "SingleStream W", "over stated", "full load over stated",
              "full over single")  # fmt: skip
    shipped = (
        "Where the machine is a box around one chip, its watts in SingleStream are those of a run "
        "(`resources/power/runs.csv`). 80 % of such runs are within a factor of "
        f"{figures['width']:.2f} of the median of the others of their device."
    )
    boards = ", ".join(
        f"{entry['over']:.2f} times those of {entry['system']}" for entry in figures["boards"]
    )
    judged = f"Watts of boards under `stress-ng` times 1.09, as they ship, are {boards}."
    return ["## MLPerf Power", INTRODUCTION, table(header, rows), shipped, judged]


def _number(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"
