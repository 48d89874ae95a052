"""The comparison as one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ctm_research.evaluation.systems.registry import PRODUCT
from predictor.core.errors import HostError

_WIDTH_INCHES: Final = 9.0
_ROW_INCHES: Final = 0.3
_TICKS: Final = (2, 3, 5, 10, 20, 30, 50, 100, 200)
# From few measurements to many, of equal lightness steps for readers who see no colours.
_COLOURS: Final = ("#9e9e9e", "#4a90c4", "#10355c")
_OURS: Final = "#b5400a"

Line = tuple[str, bool, Sequence[float | None]]


def write_plot(document: Mapping[str, Any], path: Path) -> None:
    """Draw the errors of all systems: on the corpus left, on search spaces right.

    Raises:
        HostError: the file cannot be written.
    """
    panels = [
        (
            "Runtimes and devices: unseen silicon",
            [f"{k} measured" for k in document["ks"]],
            corpus_lines(document),
        ),
        (
            "Search space FBNet: unseen devices",
            [f"{k} measured" for k in document["spaces"]["ks"]],
            space_lines(document),
        ),
    ]
    panels = [panel for panel in panels if panel[2]]
    if not panels:
        return
    rows = max(len(lines) for _, _, lines in panels)
    with rc_context({"font.size": 8, "font.family": "DejaVu Sans"}):
        figure = Figure((_WIDTH_INCHES, 1.4 + _ROW_INCHES * rows), layout="constrained")
        for place, (title, names, lines) in enumerate(panels):
            _draw(figure.add_subplot(1, len(panels), place + 1), title, names, lines)
        figure.supxlabel("median (left), mean (right) relative error in %: further left is better")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, dpi=150, metadata={"Software": None})
        except OSError as error:
            raise HostError(
                str(path), f"it cannot be written ({error.strerror})", "choose another place"
            ) from error


def corpus_lines(document: Mapping[str, Any]) -> list[Line]:
    """Return label, whether it is ours, and the errors by k of each system, the best last."""
    lines: list[Line] = [
        (
            each["label"],
            each["name"] == PRODUCT,
            [
                each["ks"][str(k)]["error_percent"] if str(k) in each["ks"] else None
                for k in document["ks"]
            ],
        )
        for each in document["systems"]
        if each["ks"]
    ]
    return _ordered(lines)


def space_lines(document: Mapping[str, Any]) -> list[Line]:
    """Return the same of the search spaces."""
    spaces = document["spaces"]
    lines: list[Line] = [
        (
            each["label"],
            each["name"] == PRODUCT,
            [each["ks"].get(str(k), {}).get("rae") for k in spaces["ks"]],
        )
        for each in spaces["methods"]
    ]
    return _ordered(lines)


def _ordered(lines: Sequence[Line]) -> list[Line]:
    kept = [line for line in lines if any(value is not None for value in line[2])]
    # By the middle budget, that a reader would choose.
    return sorted(kept, key=lambda line: -(line[2][1] or max(v or 0.0 for v in line[2])))


def _draw(axes: Axes, title: str, names: Sequence[str], lines: Sequence[Line]) -> None:
    for height, (_, is_ours, values) in enumerate(lines):
        known = [value for value in values if value is not None]
        axes.plot([min(known), max(known)], [height] * 2, color="#d0d0d0", lw=2, zorder=1)
        for value, colour in zip(values, _COLOURS, strict=True):
            if value is not None:
                axes.scatter(value, height, s=70 if is_ours else 40, color=colour, zorder=2)
    for name, colour in zip(names, _COLOURS, strict=True):
        axes.scatter([], [], s=40, color=colour, label=name)
    axes.set_title(title)
    axes.set_xscale("log")
    axes.set_xticks(_TICKS)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    every = [value for _, _, values in lines for value in values if value is not None]
    axes.set_xlim(min(every) * 0.8, min(max(every), 300) * 1.25)
    axes.set_yticks(range(len(lines)), [label for label, _, _ in lines])
    for text, (_, is_ours, _) in zip(axes.get_yticklabels(), lines, strict=True):
        if is_ours:
            text.set_color(_OURS)
            text.set_fontweight("bold")
    axes.grid(axis="x", color="#e8e8e8", zorder=0)
    axes.set_axisbelow(True)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.05),
        ncols=len(names),
        frameon=False,
        columnspacing=1,
        handletextpad=0.1,
    )
