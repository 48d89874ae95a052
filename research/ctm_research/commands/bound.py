"""``ctm evaluate bound``: published measurements against the physical bound."""

from __future__ import annotations

import argparse
from pathlib import Path

from ctm_research.commands.data import data_options
from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give
from predictor.cli.parser import Parser
from predictor.cli.progress import progress_on
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import ROOFLINE

_LIMIT_MISSED = 1


def add_bound(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = "Compare every measurement of a data folder with its bound and estimate."
    parser.set_defaults(run=_run)
    data_options(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; 1 when a measurement is under its bound."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.bound.check import check_bound  # noqa: PLC0415
        from ctm_research.evaluation.bound.document import document  # noqa: PLC0415
        from ctm_research.evaluation.bound.page import page  # noqa: PLC0415

    output = checked_output(options)
    check = check_bound(Path(options.data), load_catalogue().by_id, progress_on(console))
    command = "ctm evaluate bound --data DIR --output OUT.json"
    give(command, document(check), page, output, options, console, ROOFLINE)
    return 0 if check.holds else _LIMIT_MISSED
