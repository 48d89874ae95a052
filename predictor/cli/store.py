"""``ctm store``: content and soundness of the local store, backups and projects."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.parser import EPILOG, Parser, everywhere, json_option
from predictor.cli.tables import render_table
from predictor.core.errors import InputError
from predictor.core.text import printable
from predictor.core.units import format_bytes
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.history.history import open_history
from predictor.services.history.store_files import back_up, restore, store_info, store_problems
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
        "rates": len(exported.project.rates),
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
        tuple(printable(text) for text in (c.subject, c.name, c.local, c.incoming))
        for c in conflicts
    ]
    return render_table(heads, rows)


def _conflict(conflict: Conflict) -> dict[str, object]:
    return {
        "subject": conflict.subject,
        "id": conflict.id,
        "name": conflict.name,
        "mine": conflict.local,
        "theirs": conflict.incoming,
        "choices": list(conflict.choices),
    }


_DAMAGED = 3


def add_store(parser: Parser) -> None:
    """Add the actions."""
    parser.description = "The local store: what it holds, whether it is whole, copies and projects."
    parser.epilog = EPILOG
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    shared = everywhere()

    def action(
        name: str, text: str, run: Callable[..., int], file: str = "", file_help: str = ""
    ) -> Parser:
        made = actions.add_parser(name, parents=[shared], help=text, description=f"{text}.")
        made.set_defaults(run=run)
        if file:
            made.add_argument("file", metavar=file, help=file_help)
        json_option(made)
        return made

    action("info", "what it holds", _info)
    action("check", "whether it is whole; exit code 3 where it is not", _check)
    backup = action(
        "backup", "copy it, also while the window is open", _back_up, "FILE", "the copy"
    )
    action(
        "restore",
        "put a copy in its place; the store that is there is kept",
        _restore,
        "FILE",
        "a copy made by `ctm store backup`",
    )
    project = ("FILE.ctmproject", "the project")
    export = action("export", "write a project that a colleague can open", _export, *project)
    for writing in (backup, export):
        writing.add_argument(
            "--replace", action="store_true", help="replace FILE where it is there"
        )
    export.add_argument(
        "--tag", metavar="TAG", action="append", default=[], help="only predictions with this tag"
    )
    importing = action("import", "take a project over", _import, *project)
    importing.add_argument(
        "--conflicts",
        choices=("keep", "take", "both"),
        help="what to do where the store has something else: keep mine, take theirs, or both; "
        "without it nothing is imported where there is a conflict",
    )
    importing.add_argument(
        "--dry-run", action="store_true", help="only say what would come and what conflicts"
    )


def _info(options: argparse.Namespace, console: Console) -> int:
    info = store_info(options.store)
    if options.json:
        console.document(info)
        return 0
    rows = [
        (name.replace("_", " "), printable(str(value)))
        for key, entry in info.items()
        for name, value in (entry.items() if isinstance(entry, Mapping) else [(key, entry)])
    ]
    console.result(render_table(("What", "Value"), rows))
    return 0


def _check(options: argparse.Namespace, console: Console) -> int:
    problems = store_problems(options.store)
    if options.json:
        console.document({"sound": not problems, "problems": problems})
    elif problems:
        console.result("\n".join(printable(problem) for problem in problems))
    else:
        console.result("The store is sound.")
    return _DAMAGED if problems else 0


def _back_up(options: argparse.Namespace, console: Console) -> int:
    size_bytes = back_up(Path(options.file), options.store, replacing=options.replace)
    if options.json:
        console.document({"file": options.file, "size_bytes": size_bytes})
    else:
        console.result(f"Wrote {format_bytes(size_bytes)} to {printable(options.file)}.")
    return 0


def _restore(options: argparse.Namespace, console: Console) -> int:
    restored = restore(Path(options.file), options.store)
    backup = None if restored.backup is None else str(restored.backup)
    if options.json:
        console.document({"store": str(restored.path), "kept": backup})
        return 0
    console.result(f"{printable(str(restored.path))} is what {printable(options.file)} holds.")
    if backup is not None:
        console.result(f"The store before it is kept as {printable(backup)}.")
    return 0


def _export(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.store import export  # noqa: PLC0415  # the other actions need no catalogue

    return export(options, console)


def _import(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.store import import_project  # noqa: PLC0415  # as above

    return import_project(options, console)
