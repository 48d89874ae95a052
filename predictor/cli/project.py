"""``ctm store export`` and ``import``: projects that a colleague opens."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.tables import render_table
from predictor.core.errors import InputError
from predictor.core.text import printable
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.history.history import open_history
from predictor.services.project.conflicts import Choice, Conflict, always
from predictor.services.project.file import read_project
from predictor.services.project.imports import Plan


def export(options: argparse.Namespace, console: Console) -> int:
    """Write a project from the store."""
    with open_history(options.store) as history:
        exported = history.projects.export(
            Path(options.file), tags=options.tag, replacing=options.replace
        )
    counts = {
        "predictions": len(exported.project.predictions),
        "models": len(exported.project.graphs),
        "measurements": len(exported.project.measurements),
        "signatures": len(exported.project.signatures),
        "devices": len(exported.project.devices),
        "left_out": exported.left_out,
    }
    if options.json:
        console.document({"file": options.file, **counts})
        return 0
    words = ", ".join(f"{n} {kind}" for kind, n in counts.items() if kind != "left_out")
    console.result(f"Wrote {words} to {printable(options.file)}.")
    if exported.left_out:
        console.note(f"{exported.left_out} predictions were left out: their graph cannot be read.")
    return 0


def import_project(options: argparse.Namespace, console: Console) -> int:
    """Take a project over into the store.

    Raises:
        InputError: there are conflicts and no answer to them.
    """
    project = read_project(Path(options.file))
    catalogue = load_catalogue()
    choose = always(Choice(options.conflicts)) if options.conflicts else None
    with open_history(options.store) as history:
        plan = history.projects.plan(project, catalogue, choose)
        imported = not options.dry_run and not plan.open
        if imported:
            plan = history.projects.apply(project, catalogue, choose or (lambda _: None))
    _print(plan, options, console, imported=imported)
    if plan.open and not options.dry_run:
        raise InputError(
            options.file,
            f"{len(plan.open)} conflicts with the store are not answered; nothing was imported",
            "add --conflicts keep, take or both",
        )
    return 0


def _print(plan: Plan, options: argparse.Namespace, console: Console, *, imported: bool) -> None:
    if options.json:
        console.document(
            {
                "file": options.file,
                "imported": imported,
                "records": {kind: asdict(counts) for kind, counts in plan.counts.items()},
                "conflicts": [_conflict(conflict) for conflict in plan.conflicts],
            }
        )
        return
    heads = ("Records", "New", "The same", "Back again", "In conflict")
    rows = [
        (kind, str(c.new), str(c.same), str(c.back), str(c.conflicts))
        for kind, c in plan.counts.items()
    ]
    console.result(render_table(heads, rows, " rrrr"))
    if plan.conflicts:
        console.result("\n" + _conflicts(plan.conflicts))
    console.result("\nImported." if imported else "\nNothing was imported.")


def _conflicts(conflicts: Sequence[Conflict]) -> str:
    heads = ("Conflict", "Of", "Mine", "Theirs")
    rows = [
        tuple(printable(text) for text in (c.subject, c.name, c.mine, c.theirs)) for c in conflicts
    ]
    return render_table(heads, rows)


def _conflict(conflict: Conflict) -> dict[str, object]:
    return {
        "subject": conflict.subject,
        "id": conflict.id,
        "name": conflict.name,
        "mine": conflict.mine,
        "theirs": conflict.theirs,
        "choices": list(conflict.choices),
    }
