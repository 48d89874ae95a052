"""``ctm store``: what the local store holds, whether it is sound, backups and projects."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.tables import render_table
from predictor.core.text import printable
from predictor.core.units import format_bytes
from predictor.services.history.store_files import back_up, restore, store_info, store_problems

_DONE = 0
_DAMAGED = 3


def run(options: argparse.Namespace, console: Console) -> int:
    """Do one action on the store."""
    path = Path(options.store) if options.store else None
    match options.action:
        case "info":
            return _info(path, options, console)
        case "check":
            return _check(path, options, console)
        case "backup":
            return _back_up(path, options, console)
        case "restore":
            return _restore(path, options, console)
        case _:
            from predictor.cli.project_command import run as run_project  # noqa: PLC0415

            return run_project(path, options, console)


def _info(path: Path | None, options: argparse.Namespace, console: Console) -> int:
    info = store_info(path)
    if options.json:
        console.document(info)
        return _DONE
    rows = [
        (name.replace("_", " "), printable(str(value)))
        for key, entry in info.items()
        for name, value in (entry.items() if isinstance(entry, Mapping) else [(key, entry)])
    ]
    console.result(render_table(("What", "Value"), rows))
    return _DONE


def _check(path: Path | None, options: argparse.Namespace, console: Console) -> int:
    problems = store_problems(path)
    if options.json:
        console.document({"sound": not problems, "problems": problems})
    elif problems:
        console.result("\n".join(printable(problem) for problem in problems))
    else:
        console.result("The store is sound.")
    return _DAMAGED if problems else _DONE


def _back_up(path: Path | None, options: argparse.Namespace, console: Console) -> int:
    size_bytes = back_up(Path(options.file), path, replacing=options.replace)
    if options.json:
        console.document({"file": options.file, "size_bytes": size_bytes})
    else:
        console.result(f"Wrote {format_bytes(size_bytes)} to {printable(options.file)}.")
    return _DONE


def _restore(path: Path | None, options: argparse.Namespace, console: Console) -> int:
    restored = restore(Path(options.file), path)
    kept = None if restored.kept is None else str(restored.kept)
    if options.json:
        console.document({"store": str(restored.path), "kept": kept})
        return _DONE
    console.result(f"{printable(str(restored.path))} is what {printable(options.file)} holds.")
    if kept is not None:
        console.result(f"The store before it is kept as {printable(kept)}.")
    return _DONE
