"""Figures of evaluations and trainings: options, checks and files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from predictor.cli.console import Console
from predictor.cli.outputs import OutputAction
from predictor.cli.parser import Parser
from predictor.core.errors import InputError
from predictor.core.files import write_text
from predictor.services.measurements.origin import environment_of, origin_of


def output_option(parser: Parser) -> None:
    """Add the file of the figures, beside which their page stands."""
    parser.add_argument(
        "--output",
        action=OutputAction,
        metavar="OUT.json",
        help="write the figures here and a page OUT.md beside",
    )


def checked_output(options: argparse.Namespace) -> Path | None:
    """Return where ``--output`` is, None without one, refused as by :func:`check_output`."""
    output = Path(options.output) if options.output else None
    if output is not None:
        check_output(output)
    return output


def give(
    command: str,
    document: Mapping[str, object],
    page: Callable[[dict[str, Any], str], str],
    output: Path | None,
    options: argparse.Namespace,
    console: Console,
    engine: str = "",
) -> dict[str, Any]:
    """Write figures and their page beside, or print the page; ``--json`` prints the figures.

    Args:
        command: that took them, without the folders of this machine.
        document: plain values.
        page: makes Markdown of the figures and the sentence of their origin.
        output: file OUT.json, or None for no file.
        options: of the command.
        console: to print to.
        engine: that the figures are computed with; empty where they depend on none.

    Returns:
        The figures: the document after its environment.
    """
    environment = environment_of(command, engine=engine)
    figures: dict[str, Any] = {**environment, **document}
    text = page(figures, origin_of(environment))
    if output is not None:
        write_text(output, json.dumps(figures, indent=1, allow_nan=False) + "\n")
        write_text(output.with_suffix(".md"), text)
    if options.json:
        console.document(figures)
    elif output is None:
        console.result(text)
    else:
        console.note(f"Written: {output} and {output.with_suffix('.md')}")
    return figures


def check_output(output: Path) -> None:
    """Refuse a place that cannot be written before the work is done, not after.

    Raises:
        InputError: the place is no file OUT.json.
    """
    if output.suffix != ".json":
        raise InputError(str(output), "it does not end in .json", "name a file OUT.json")
    if output.is_dir():
        raise InputError(str(output), "it is a folder", "name a file OUT.json")
