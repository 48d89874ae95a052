"""``ctm store``: what the local store holds, whether it is sound, backups and projects."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.parser import EPILOG, Parser, everywhere, json_option
from predictor.cli.tables import render_table
from predictor.core.text import printable
from predictor.core.units import format_bytes
from predictor.services.history.store_files import back_up, restore, store_info, store_problems

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
    kept = None if restored.kept is None else str(restored.kept)
    if options.json:
        console.document({"store": str(restored.path), "kept": kept})
        return 0
    console.result(f"{printable(str(restored.path))} is what {printable(options.file)} holds.")
    if kept is not None:
        console.result(f"The store before it is kept as {printable(kept)}.")
    return 0


def _export(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.project import export  # noqa: PLC0415  # the other actions need no catalogue

    return export(options, console)


def _import(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.project import import_project  # noqa: PLC0415  # as above

    return import_project(options, console)
