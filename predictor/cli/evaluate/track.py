"""``ctm evaluate track``: the record of the shipped estimate on hardware that it had not seen."""

from __future__ import annotations

import argparse

from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give, output_option
from predictor.cli.parser import EPILOG, Parser, json_option
from predictor.cli.research import has_research, research_module
from predictor.services.measurements import track_record
from predictor.services.prediction.engines import CLOSERTOME


def add_track(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Tell how far off the shipped estimate was, by runtime and kind of device, on chips and "
        "devices that were left out when it was fitted. Needs no data."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    output_option(parser)
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page, in a checkout with goals; always 0."""
    output = checked_output(options)
    command = "ctm evaluate track --output OUT.json"
    record = track_record
    if has_research():
        record = research_module("ctm_research.track_record", "the evaluation")
    give(command, record.track_record(), record.page, output, options, console, CLOSERTOME)
    return 0
