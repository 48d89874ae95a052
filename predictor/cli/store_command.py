"""``ctm store``: what the local store holds, and whether it is sound."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.tables import render_table
from predictor.core.text import printable
from predictor.services.history import open_history

_DONE = 0
_DAMAGED = 3


def run(options: argparse.Namespace, console: Console) -> int:
    """Print what the store holds, or what is wrong with it."""
    with open_history(Path(options.store) if options.store else None) as history:
        if options.action == "info":
            _print_info(history.info(), options, console)
            return _DONE
        return _print_check(history.check(), options, console)


def _print_info(info: Mapping[str, object], options: argparse.Namespace, console: Console) -> None:
    if options.json:
        console.document(info)
        return
    rows = [
        (name.replace("_", " "), printable(str(value)))
        for key, entry in info.items()
        for name, value in (entry.items() if isinstance(entry, Mapping) else [(key, entry)])
    ]
    console.result(render_table(("What", "Value"), rows))


def _print_check(problems: list[str], options: argparse.Namespace, console: Console) -> int:
    if options.json:
        console.document({"sound": not problems, "problems": problems})
    elif problems:
        console.result("\n".join(printable(problem) for problem in problems))
    else:
        console.result("The store is sound.")
    return _DAMAGED if problems else _DONE
