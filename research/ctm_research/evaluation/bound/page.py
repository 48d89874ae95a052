"""The reality check as a Markdown page, written from its JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from predictor.core.units import significant

_INTRODUCTION = """\
Published measurements beside the two numbers of the roofline engine
([engine](../../../docs/engine.md#the-roofline-engine)).
No run can beat the bound: a measurement under it proves a fact or the bound wrong.
At most {limit} % may be under it.
The estimate supposes peak rates: its error is where learned engines start.
How rows are read and joined: [evaluation](../../../docs/evaluation.md)."""

_FIGURES = (
    "with a bound",
    "under it",
    "median of measured / bound",
    "least",
    "with an estimate",
    "median of measured / estimate",
    "10 %",
    "90 %",
    "MAPE %",
    "median APE %",
)
_FIGURE_KEYS = (
    "bounded",
    "under_bound",
    "median_over_bound",
    "least_over_bound",
    "estimated",
    "median_over_estimate",
    "low_over_estimate",
    "high_over_estimate",
    "mape_percent",
    "median_ape_percent",
)


def page(document: Mapping[str, Any], origin: str) -> str:
    """Return the Markdown page of a document of :mod:`.bound_document`.

    Args:
        document: the document.
        origin: one sentence: which command wrote it, when and where.
    """
    parts = [
        "# Measured latencies against bound and estimate",
        origin,
        _INTRODUCTION.format(limit=significant(document["limit_percent"])),
        _verdict(document),
        "## By source",
        _by_source(document),
        *_absent(document),
        "## Measurements under their bound",
        *_offenders(document["offenders"]),
        "## By source and target",
        _by_target(document),
        "## Rows without an estimate, and why",
        _table(
            ("source", "reason", "rows"),
            ((r["source"], r["reason"], r["rows"]) for r in document["without_estimate"]),
        ),
        "## Devices that the catalogue lacks",
        _lacking(document["not_in_catalogue"]),
    ]
    return "\n\n".join(parts) + "\n"


def _lacking(devices: Sequence[Mapping[str, Any]]) -> str:
    if not devices:
        return "None."
    rows = ((device["source"], device["device"], device["rows"]) for device in devices)
    return _table(("source", "device", "rows"), rows)


def _verdict(document: Mapping[str, Any]) -> str:
    total = document["total"]
    percent, limit = total["under_bound_percent"], document["limit_percent"]
    word = "within" if percent <= limit else "**over**"
    worst = max(document["sources"], key=lambda source: source["under_bound_percent"])
    return (
        f"{total['under_bound']} of {total['bounded']} measurements are under their bound: "
        f"{significant(percent)} %, {word} the limit. "
        f"The largest share of a source is {significant(worst['under_bound_percent'])} % "
        f"({worst['source']})."
    )


def _by_source(document: Mapping[str, Any]) -> str:
    lines = [
        (s["source"], s["rows"], s["rows_with_graph"], *_figure_cells(s))
        for s in document["sources"]
    ]
    total = (
        "all",
        *(sum(s[key] for s in document["sources"]) for key in ("rows", "rows_with_graph")),
    )
    return _table(
        ("source", "rows", "with a graph", *_FIGURES),
        [*lines, (*total, *_figure_cells(document["total"]))],
    )


def _by_target(document: Mapping[str, Any]) -> str:
    return _table(
        ("source", "target", *_FIGURES),
        ((t["source"], t["target"], *_figure_cells(t)) for t in document["targets"]),
    )


def _absent(document: Mapping[str, Any]) -> list[str]:
    return (
        [f"Not in the data folder: {', '.join(document['absent'])}."] if document["absent"] else []
    )


def _offenders(offenders: Sequence[Mapping[str, Any]]) -> list[str]:
    if not offenders:
        return ["None."]
    explanations = list(dict.fromkeys(o["explanation"] for o in offenders))
    table = _table(
        ("source", "line", "network", "target", "measured ms", "bound ms", "ratio", "why"),
        (
            (
                *(o[key] for key in ("source", "line", "network", "target")),
                *(o[key] for key in ("measured_ms", "bound_ms", "measured_over_bound")),
                explanations.index(o["explanation"]) + 1,
            )
            for o in offenders
        ),
    )
    return [table, "\n".join(f"{number}. {text}" for number, text in enumerate(explanations, 1))]


def _figure_cells(figures: Mapping[str, Any]) -> list[object]:
    return [figures[key] for key in _FIGURE_KEYS]


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = [[_cell(value) for value in row] for row in rows]
    lines = [list(header), ["---"] * len(header), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return significant(value)
    return str(value).replace("|", "\\|")
