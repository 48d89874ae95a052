"""``ctm evaluate generation``: published rates of language models, devices left out."""

from __future__ import annotations

import argparse
from pathlib import Path

from ctm_research.commands.data import data_options
from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give
from predictor.cli.parser import EPILOG, Parser
from predictor.services.devices.catalogue import load_catalogue


def add_generation(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Predict published rates of language models on devices that are left out, and say how far "
        "off the predictions are."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    data_options(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; always 0."""
    with libraries_needed("the evaluation"):
        from ctm_research.generation.command import judge_generation  # noqa: PLC0415
        from ctm_research.generation.page import page  # noqa: PLC0415

    output = checked_output(options)
    document = judge_generation(Path(options.data), load_catalogue().by_id)
    command = "ctm evaluate generation --data DIR --output OUT.json"
    give(command, document, page, output, options, console)
    return 0
