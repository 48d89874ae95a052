"""Plots of a suite as SVG: coverage bars, distributions of errors, errors by number of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.figure import Figure

from ctm_research.nas.benchmark.page import mean_of
from ctm_research.nas.benchmark.published import FIGURE4_DEVICES
from predictor.core.errors import HostError

_LIMITS: Final = (5, 10, 15)
_INCHES: Final = (9.0, 3.6)


def write_plots(document: Mapping[str, Any], folder: Path, stem: str) -> dict[str, str]:
    """Write the plots of a document.

    Args:
        document: the document.
        folder: that exists.
        stem: start of file names.

    Returns:
        File names by subject of the plot; empty for a suite without plots.

    Raises:
        HostError: a file cannot be written.
    """
    # Without the date and with fixed ids the same figures give the same bytes.
    with rc_context({"svg.hashsalt": "closertome", "svg.fonttype": "none", "font.size": 8}):
        if document["suite"] == "figure3":
            return {"Share of predictions within 5, 10 and 15 %": _bars(document, folder, stem)}
        if document["suite"] == "figure4":
            return {"Distribution of relative errors": _curves(document, folder, stem)}
        if document["suite"].startswith("systems"):
            return {"Median error by number of samples": _errors(document, folder, stem)}
    return {}


def _bars(document: Mapping[str, Any], folder: Path, stem: str) -> str:
    k = max(document["plan"]["ks"])
    partitions = list(dict.fromkeys(c["partition"] for c in document["cells"]))
    figure = _figure()
    for place, partition in enumerate(partitions):
        axes = figure.add_subplot(1, len(partitions), place + 1)
        width = 0.8 / len(document["methods"])
        for number, method in enumerate(document["methods"]):
            cells = [
                c
                for c in document["cells"]
                if (c["partition"], c["method"], c["k"]) == (partition, method["name"], k)
            ]
            axes.bar(
                [limit + number * width for limit in range(len(_LIMITS))],
                [mean_of(cells, f"within_{limit}") for limit in _LIMITS],
                width,
                label=method["label"],
            )
        axes.set_title(partition)
        axes.set_xticks([x + 0.4 - width / 2 for x in range(3)], [f"≤ {x} %" for x in _LIMITS])
        axes.set_ylim(0, 100)
        if not place:
            axes.set_ylabel(f"share of predictions in %, k = {k}")
    return _saved(figure, folder, f"{stem}-coverage.svg")


def _curves(document: Mapping[str, Any], folder: Path, stem: str) -> str:
    shown = [
        (device, [c for c in document["curves"] if (c["partition"], c["device"]) == (part, device)])
        for part, device in FIGURE4_DEVICES
    ]
    shown = [(device, curves) for device, curves in shown if curves]
    labels = {method["name"]: method["label"] for method in document["methods"]}
    figure = _figure()
    for place, (device, curves) in enumerate(shown):
        axes = figure.add_subplot(1, len(shown), place + 1)
        for curve in curves:
            axes.plot(curve["percent"], range(len(curve["percent"])), label=labels[curve["method"]])
        axes.set_title(device)
        axes.set_xlim(0, _reach(curves))
        axes.set_ylim(0, 100)
        axes.set_xlabel("relative error in %")
        if not place:
            axes.set_ylabel("share of predictions in %")
    return _saved(figure, folder, f"{stem}-cdf.svg")


def _errors(document: Mapping[str, Any], folder: Path, stem: str) -> str:
    figure = _figure()
    axes = figure.add_subplot()
    ks = document["plan"]["ks"]
    for method in document["methods"]:
        cells = [c for c in document["cells"] if c["method"] == method["name"]]
        ours = method["name"] == document["reference"]
        axes.plot(
            ks,
            [median(c["rae"] for c in cells if c["k"] == k) for k in ks],
            marker="o",
            linewidth=3 if ours else 1,
            color="black" if ours else None,
            label=method["label"],
        )
    axes.set_xscale("log")
    axes.set_xticks(ks, list(map(str, ks)))
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("measured architectures of the device, k")
    # Not the mean: on one device of NAS-Bench-201 every method is off by hundreds of percent.
    axes.set_ylabel("RAE in %, median over the cells")
    return _saved(figure, folder, f"{stem}-errors.svg")


def _reach(curves: Sequence[Mapping[str, Any]]) -> float:
    """Return where the axis ends: the median method's 95 % quantile, doubled."""
    ends = sorted(curve["percent"][95] for curve in curves)
    return max(1.0, 2 * float(ends[len(ends) // 2]))


def _figure() -> Figure:
    return Figure(figsize=_INCHES, layout="constrained")


def _saved(figure: Figure, folder: Path, name: str) -> str:
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    try:
        figure.savefig(folder / name, metadata={"Date": None})
    except OSError as error:
        raise HostError(
            str(folder / name), f"it cannot be written ({error.strerror})", "choose another place"
        ) from error
    return name
