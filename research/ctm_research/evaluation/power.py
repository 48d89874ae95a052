"""Power of cards and boards under load: what is stated or was measured, against other loads.

The shares of ``predictor.language.power`` were fitted to language models on A100 and H100. Here
they are held against kernels on cards that the fit never saw. Boards: one measured load of each
against its other loads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.silicon import silicon_key
from ctm_research.evaluation.clock_power import clock_power, clock_section
from ctm_research.evaluation.mlperf_power import mlperf_power, mlperf_section
from ctm_research.evaluation.throughput.forms import quantile
from ctm_research.generation.least_squares import not_negative
from ctm_research.generation.watts import Powered, powered_rows
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Device
from predictor.cost.rates.power import rated_watts
from predictor.devices.catalogue import load_device_files
from predictor.language.power import share_of_parts
from predictor.presentation.markdown import table

Floats = NDArray[np.float64]

_ROOFLINE: Final = {
    "alex_a100_40": "a100-sxm4-40gb",
    "alex_a40": "a40",
    "genoa_l40": "l40",
    "h200": "h200-sxm",
}
_COUNTED: Final = {"v100": "tesla-v100-pcie-16gb", "rtx8000": "quadro-rtx-8000"}
_LOADS: Final = ("geekbench", "hpl")

_INTRODUCTION: Final = """\
*Cards.* Average power over the stated one is a sum of shares of the time that reads, multiplies and
waits. The shares of `ctm generate` were fitted to language models on A100 and H100. They are held
here against what they have not seen: a kernel from reading to multiplying in FP32 on A100, A40, L40
and H200 (gpu-benches; its share of the time by the best rates of the same sweep), and the
applications of NV-DVFS-Benchmark on V100 and Quadro RTX 8000 at their highest clock (shares by the
counters of memory and processors). Beside them stand two fits to all of these rows and the language
models with the silicon left out. Each silicon counts the same. The width that ships is what 80 % of
the rows stay within; *inside* is the share of the rows of a silicon within that of the others.

*Boards.* Watts at the wall under `stress-ng` on all cores, and of other loads over them.

Caffe's trainings (Titan X, 1080 Ti, 980) are left out: their iterations update weights."""
_LIMITS: Final = """\
An A100 that multiplies in FP32 alone draws half of its power, since its matrix units rest; networks
under its usual runtimes keep them busy.
A card's power is that of its board, without the host. Networks of small operators wait more than
these kernels do, and nothing published tells what they draw then but language models at batch 1."""


def power_check(data: Path) -> dict[str, Any]:
    """Return the errors of the power of cards by silicon, and loads of boards.

    Raises:
        InputError: a table is missing or damaged.
    """
    devices = {entry.device.id: entry.device for entry in load_device_files()}
    unseen = [*_roofline(data, devices), *_counted(data, devices)]
    rows = [*unseen, *powered_rows(data, devices)]
    return {
        "cards": _cards(unseen),
        "attempts": _attempts(unseen, rows),
        "clocks": clock_power(data),
        "boards": _boards(data),
        "mlperf": mlperf_power(devices),
    }


def _cards(rows: Sequence[Powered]) -> dict[str, Any]:
    by = _by_silicon(rows)
    errors = {name: np.array([_log_error(row) for row in members]) for name, members in by.items()}
    return {
        "silicon": [
            {
                "silicon": name,
                "rows": len(error),
                "error": float(np.median(np.abs(np.expm1(error)))),
                "over": float(np.median(np.exp(error))),
                "inside": float(np.mean(np.abs(error) <= _width(errors, name))),
            }
            for name, error in errors.items()
        ],
        "width": float(np.exp(_width(errors))),
        **_median(errors),
    }


def _log_error(row: Powered, shares: Floats | None = None) -> float:
    """Return ln of the stated power over the measured one, by the shares that ship or others."""
    reading, _, waiting = row.shares.tolist()
    if shares is None:
        power = share_of_parts(reading, waiting)
    else:
        power = min(float(row.shares @ shares), 1.0)
    return float(np.log(power / row.power))


def _by_silicon(rows: Sequence[Powered]) -> dict[str, list[Powered]]:
    by: dict[str, list[Powered]] = defaultdict(list)
    for row in rows:
        by[row.silicon].append(row)
    return dict(sorted(by.items()))


def _width(errors: Mapping[str, Floats], left_out: str = "") -> float:
    """Return what 80 % of the rows stay within in ln, each silicon counting the same."""
    rest = [error for name, error in errors.items() if name != left_out]
    weights = np.concatenate([np.full(len(error), 1 / len(error)) for error in rest])
    return quantile(np.abs(np.concatenate(rest)), weights, 0.8)


def _median(errors: Mapping[str, Floats]) -> dict[str, float]:
    weights = np.concatenate([np.full(len(error), 1 / len(error)) for error in errors.values()])
    whole = np.abs(np.expm1(np.concatenate(list(errors.values()))))
    return {"error": quantile(whole, weights, 0.5)}


def _attempts(unseen: Sequence[Powered], rows: Sequence[Powered]) -> list[dict[str, Any]]:
    """Return the errors on the unseen silicon of other forms, fitted without it."""
    figures = []
    for form, columns in (("one share", 1), ("three shares", 3)):
        errors = {}
        for name, members in _by_silicon(unseen).items():
            shares = _fit([row for row in rows if row.silicon != name], columns)
            errors[name] = np.array([_log_error(row, shares) for row in members])
        figures.append({"form": form, "width": float(np.exp(_width(errors))), **_median(errors)})
    return figures


def _fit(rows: Sequence[Powered], columns: int) -> Floats:
    """Return the shares of least relative squares, each silicon counting the same."""
    counts = {name: len(members) for name, members in _by_silicon(rows).items()}
    root = np.sqrt([1 / counts[row.silicon] for row in rows])
    parts = np.array([row.shares / row.power for row in rows]) * root[:, None]
    if columns == 1:
        return np.full(3, not_negative(parts.sum(axis=1, keepdims=True), root)[0])
    return not_negative(parts, root)


def _roofline(data: Path, devices: Mapping[str, Device]) -> Iterator[Powered]:
    """Yield the sweeps of one kernel by card, from reading to multiplying."""
    sweeps: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in read_rows(data / "kernels" / "gpu_benches" / "roofline.csv", ()):
        if row["gpu"] in _ROOFLINE and row["power_w"]:
            sweeps[row["gpu"], row["device_index"]].append(row)
    for (name, _), sweep in sweeps.items():
        device = devices[_ROOFLINE[name]]
        rated = rated_watts(device)
        if rated is None:
            continue
        bandwidth = max(row.positive("gbs") for row in sweep)
        rate = max(row.positive("gflops") for row in sweep)
        for row in sweep:
            reading, multiplying = row.positive("gbs") / bandwidth, row.positive("gflops") / rate
            # Where both are at once a part of the time is of both.
            whole = max(reading + multiplying, 1.0)
            parts = np.array([reading, multiplying, whole - reading - multiplying]) / whole
            yield Powered(silicon_key(device.id), parts, row.positive("power_w") / rated)


def _counted(data: Path, devices: Mapping[str, Device]) -> Iterator[Powered]:
    """Yield applications with counters of the time that memory and processors were active."""
    path = data / "kernels" / "dvfs" / "gpu_kernels_v100_rtx8000.csv.gz"
    rows = [
        row
        for row in read_rows(path, ())
        if row["set"] == "real" and row["power_w"] and row["dram_active"]
    ]
    for name, device_id in _COUNTED.items():
        rated = rated_watts(devices[device_id])
        members = [row for row in rows if row["gpu"] == name]
        highest = max((row.count("core_mhz") for row in members), default=0)
        for row in members:
            if rated is None or row.count("core_mhz") != highest:
                continue
            reading, active = float(row["dram_active"]), float(row["sm_active"])
            multiplying = max(active - reading, 0.0)
            parts = np.array([reading, multiplying, 1 - reading - multiplying])
            yield Powered(silicon_key(device_id), parts, row.positive("power_w") / rated)


def _boards(data: Path) -> dict[str, Any]:
    """Return other loads over the one of the table."""
    ratios = []
    boards = 0
    for row in read_rows(data / "kernels" / "sbc" / "sbc_reviews.csv", ()):
        loads = [row[f"power_watts.{name}"] for name in _LOADS]
        if row["power_watts.stress"] and any(loads):
            boards += 1
            stress = row.positive("power_watts.stress")
            ratios += [float(load) / stress for load in loads if load]
    low, median, high = np.quantile(ratios, (0.1, 0.5, 0.9), method="inverted_cdf").tolist()
    return {"boards": boards, "runs": len(ratios), "median": median, "low": low, "high": high}


def power_page(figures: Mapping[str, Any], origin: str) -> str:
    """Return the figures as a Markdown page.

    Args:
        figures: of :func:`power_check`.
        origin: sentence on the command that made them.
    """
    cards, boards = figures["cards"], figures["boards"]
    silicon = [
        (row["silicon"], row["rows"], 100 * row["error"], f"{row['over']:.2f}", 100 * row["inside"])
        for row in cards["silicon"]
    ]
    shipped = {"form": "shares of language models (ship)", **cards}
    attempts = [
        (entry["form"], 100 * entry["error"], f"{entry['width']:.2f}")
        for entry in (shipped, *figures["attempts"])
    ]
    load = (
        f"{boards['runs']} runs of Geekbench and HPL on {boards['boards']} boards draw "
        f"{boards['median']:.2f} times the watts under stress, 10 % under {boards['low']:.2f} and "
        f"10 % over {boards['high']:.2f} times."
    )
    parts = [
        *("# Power under load", origin, _INTRODUCTION, "## Cards"),
        table(("silicon", "rows", "error %", "stated over measured", "inside %"), silicon),
        table(("form", "median error %", "80 % within a factor"), attempts),
        *clock_section(figures["clocks"]),
        *("## Boards", load, *mlperf_section(figures["mlperf"]), "## Limits", _LIMITS),
    ]
    return "\n\n".join(parts) + "\n"
