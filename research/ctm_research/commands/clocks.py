"""``ctm evaluate clocks``: latency at other clocks against published measurements."""

from __future__ import annotations

import argparse
from pathlib import Path

from ctm_research.commands.data import data_options
from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give
from predictor.cli.parser import EPILOG, Parser
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME

_MISSED = 1  # exit code


def add_clocks(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Predict published latencies at other clocks from one and from three measured points, "
        "constants chosen without the network: Jetson TX2's grid of GPU and memory clocks, "
        "desktop cards, processors, power modes of AGX Xavier and AGX Orin."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    data_options(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; 1 where a goal is missed."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.clocks.figures import (  # noqa: PLC0415
            clock_figures,
            clock_page,
            misses,
        )

    output = checked_output(options)
    document = clock_figures(Path(options.data), load_catalogue().by_id)
    command = "ctm evaluate clocks --data DIR --output OUT.json"
    figures = give(command, document, clock_page, output, options, console, CLOSERTOME)
    missed = misses(figures)
    for each in missed:
        console.note(f"missed: {each}")
    return _MISSED if missed else 0
