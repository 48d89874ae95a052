"""``ctm evaluate tails``: P90 and P99 over the median, by runtime and kind of device."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ctm_research.commands.data import data_options
from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give
from predictor.cli.parser import Parser
from predictor.core.files import write_text


def add_tails(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Fit how far P90 and P99 of MLPerf's runs lie over their median, by runtime and kind of "
        "device, and state the errors on chips left out."
    )
    parser.set_defaults(run=_run)
    data_options(parser)
    parser.add_argument(
        "--save", metavar="FILE.json", help="write what predictions read (resources/tails)"
    )


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures, their page and what ships; always 0."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.tails import (  # noqa: PLC0415
            shipped,
            tails_check,
            tails_page,
        )

    output = checked_output(options)
    document = tails_check(Path(options.data))
    command = "ctm evaluate tails --data DIR --output OUT.json"
    figures = give(command, document, tails_page, output, options, console)
    if options.save:
        write_text(Path(options.save), json.dumps(shipped(figures), indent=1) + "\n")
    return 0
