"""``ctm evaluate tails``: P90 and P99 over the median, by runtime and kind of device."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.evaluate.figures import (
    checked_output,
    data_options,
    environment_of,
    give,
    origin_of,
    research_needed,
)
from predictor.cli.parser import Parser, json_option
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
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures, their page and what ships; always 0."""
    with research_needed("the evaluation"):
        from predictor.research.evaluation.tails import (  # noqa: PLC0415
            shipped,
            tails_check,
            tails_page,
        )

    output = checked_output(options)
    environment = environment_of("ctm evaluate tails --data DIR --output OUT.json")
    figures = {**environment, **tails_check(Path(options.data))}
    if options.save:
        write_text(Path(options.save), json.dumps(shipped(figures), indent=1) + "\n")
    give(figures, tails_page(figures, origin_of(environment)), output, options, console)
    return 0
