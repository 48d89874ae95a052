"""``ctm evaluate power``: watts of cards and boards under load, against what was measured."""

from __future__ import annotations

import argparse
from pathlib import Path

from ctm_research.commands.data import data_options
from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give
from predictor.cli.parser import Parser


def add_power(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Hold the power of cards by what their time is spent on against published averages on "
        "silicon that the shares were not fitted to, and loads of boards against one another."
    )
    parser.set_defaults(run=_run)
    data_options(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; always 0."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.power import power_check, power_page  # noqa: PLC0415

    output = checked_output(options)
    document = power_check(Path(options.data))
    command = "ctm evaluate power --data DIR --output OUT.json"
    give(command, document, power_page, output, options, console)
    return 0
