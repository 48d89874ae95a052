"""The ledger and the disagreements as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctm_research.corpus.disagreements import APART, SLOW, UNDER, Disagreement
from ctm_research.corpus.ledger import ClassRows, Ledger, RowClass
from ctm_research.corpus.summary import table

_FEW: Final = 20  # rows of a class; smaller ones are one line
_REASONS: Final = 3  # of a class that are named, the most frequent ones
_WAITING: Final = 10  # networks of a source that are named, those with the most rows
_LISTED: Final = 400  # lines of a kind of disagreement

_CLASSES: Final = ("runtime", "on", "rows", "used", "%", "devices", "stated", "left out, rows")
_DISAGREEMENTS: Final = (
    *(
        "published at",
        "device",
        "runtime",
        "precision",
        "rows",
        "factor",
        "worst on",
        "explanation",
    ),
)


def ledger_text(ledger: Ledger) -> str:
    """Return the tables of classes, of devices and of missing graphs in Markdown."""
    ordered = sorted(ledger.classes.items(), key=lambda item: (-item[1].used, item[0]))
    large = [(key, rows) for key, rows in ordered if rows.rows >= _FEW]
    small = [rows for _, rows in ordered if rows.rows < _FEW]
    lines = [_class_line(key, rows) for key, rows in large]
    if small:
        lines.append(_class_line(RowClass(f"{len(small)} others", "any"), _joined(small)))
    devices = [
        [source, str(len(stated)), str(len(used - {""})), "yes" if "" in used else "no"]
        for source, (stated, used) in ledger.devices.items()
    ]
    return "\n\n".join(
        [
            "Rows by class; a copy in another folder and a second statistic of a run are no rows:",
            table(_CLASSES, lines),
            "Devices by source, and whether rows of devices that the catalogue lacks are used:",
            table(("source", "stated", "in the catalogue", "others"), devices),
            "Rows that lack nothing but a graph:",
            table(("source", "rows", "networks", "with the most rows"), _waiting(ledger)),
        ]
    )


def disagreements_text(entries: Sequence[Disagreement]) -> str:
    """Return the tables of what disagrees in Markdown, the largest first."""
    sections = []
    for kind, title in (
        (UNDER, "Times under the physical bound; the factor is the time over the bound:"),
        (SLOW, f"Times over their bound that are {SLOW}, which is the factor:"),
        (APART, f"Sources that are {APART} on one graph, device and configuration:"),
    ):
        chosen = [entry for entry in entries if entry.kind == kind]
        chosen.sort(key=lambda entry: (-entry.count, entry.source, entry.device))
        sections.append(title)
        sections.append(table(_DISAGREEMENTS, [_line(entry) for entry in chosen[:_LISTED]]))
    return "\n\n".join(sections)


def _class_line(key: RowClass, rows: ClassRows) -> list[str]:
    reasons = rows.left_out.most_common(_REASONS)
    rest = rows.left_out.total() - sum(count for _, count in reasons)
    named = [f"{count} {reason}" for reason, count in reasons]
    return [
        *(key.runtime, key.kind, str(rows.rows), str(rows.used)),
        f"{100 * rows.used / rows.rows:.0f}",
        *(str(rows.devices_used), str(len(rows.devices))),
        "; ".join([*named, f"{rest} for other reasons"] if rest else named),
    ]


def _joined(parts: Sequence[ClassRows]) -> ClassRows:
    whole = ClassRows()
    for part in parts:
        whole.used += part.used
        whole.left_out += part.left_out
        whole.devices.update(part.devices)
    return whole


def _waiting(ledger: Ledger) -> list[list[str]]:
    return [
        [
            *(source, str(rows.total()), str(len(rows))),
            ", ".join(f"{name} ({count})" for name, count in rows.most_common(_WAITING)),
        ]
        for source, rows in ledger.waiting.items()
    ]


def _line(entry: Disagreement) -> list[str]:
    return [
        *(entry.source, entry.device, entry.runtime, entry.precision, str(entry.count)),
        *(f"{entry.factor:.2g}", entry.network, entry.explanation),
    ]
