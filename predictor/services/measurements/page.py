"""The page of a table in the form of the paper's Table 2: RAE and shares within 5, 10, 15 %."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from predictor.core.text import printable
from predictor.presentation.markdown import cell, table

_FIGURES = ("rae_percent", "acc5_percent", "acc10_percent", "acc15_percent")
_HEADER = ("RAE %", "within 5 %", "10 %", "15 %")


def page(document: Mapping[str, Any], origin: str) -> str:
    """Return the page of a document.

    Args:
        document: see :mod:`predictor.services.measurements.document`.
        origin: program, place and time of the page.
    """
    parts = [
        f"# {printable(document['engine'])} on measured latencies",
        origin,
        _method(document),
        "## Errors",
        _errors(document),
        "## Intervals",
        _intervals(document),
        *_left_out(document),
    ]
    return "\n\n".join(parts) + "\n"


def _method(document: Mapping[str, Any]) -> str:
    plan, totals = document["plan"], document["summary"]["all"]
    probes = sorted({entry["probes"] for entry in document["summary"]["targets"]})
    counts = f"{probes[0]}" if len(probes) == 1 else f"{probes[0]} to {probes[-1]}"
    if probes == [0]:
        how = "No latency of a target was read before it was predicted."
    else:
        chosen = "the table" if plan["roles"] else plan["selector"]
        how = (
            f"Of each target, {counts} latencies were read, chosen by {chosen}; "
            "the others are predicted."
        )
    draws = f" {plan['seeds']} draws." if plan["seeds"] > 1 else ""
    return (
        f"{how}{draws} {totals['rows']} predictions on {totals['targets']} targets.\n\n"
        "RAE is the mean of |predicted - measured| / measured. The reference is "
        f"{document['reference']}. FLAT, which the paper compares with, reads the codes of one "
        "search space and no other network, so it cannot stand here: see the pages of "
        "`ctm evaluate nas`."
    )


def _errors(document: Mapping[str, Any]) -> str:
    header = (
        "target",
        "probes",
        "rows",
        *_HEADER,
        "median %",
        *(f"reference {name}" for name in _HEADER),
    )
    rows = [_error_row(entry["label"], entry) for entry in document["summary"]["targets"]]
    totals = document["summary"]["all"]
    rows.append(_error_row("all", {"probes": None, **totals}))
    rows.append(_spread_row(totals))
    return table(header, rows)


def _error_row(label: str, entry: Mapping[str, Any]) -> list[object]:
    return [
        printable(label),
        entry["probes"],
        _count(entry),
        *(entry[name] for name in _FIGURES),
        entry["median_ape_percent"],
        *(entry["reference"][name] for name in _FIGURES),
    ]


def _spread_row(totals: Mapping[str, Any]) -> list[object]:
    """Return the 95 % intervals of the figures in all."""
    ends = totals["bootstrap95"]
    figures = [_ends(ends.get(name)) for name in (*_FIGURES, "median_ape_percent")]
    return ["95 % interval", None, None, *figures, *[None] * len(_FIGURES)]


def _ends(ends: list[float] | None) -> str | None:
    return None if ends is None else f"{cell(ends[0])} to {cell(ends[1])}"


def _count(entry: Mapping[str, Any]) -> str:
    lacking = entry["without_number"]
    return f"{entry['rows']}" + (f", {lacking} without a number" if lacking else "")


def _intervals(document: Mapping[str, Any]) -> str:
    totals = document["summary"]["all"]
    if totals["coverage80_percent"] is None:
        return "The engine gives no intervals."
    rows = [
        [
            f"{level} %",
            totals[f"coverage{level}_percent"],
            _ends(totals["bootstrap95"].get(f"coverage{level}_percent")),
            totals[f"width{level}_percent"],
            totals[f"score{level}_percent"],
        ]
        for level in (80, 95)
    ]
    return table(
        ("interval", "covers %", "95 % interval of that", "median width %", "interval score %"),
        rows,
    )


def _left_out(document: Mapping[str, Any]) -> list[str]:
    if not document["left_out"]:
        return []
    rows = [(printable(entry["target"]), entry["reason"]) for entry in document["left_out"]]
    return ["## Left out", table(("target", "why"), rows)]
