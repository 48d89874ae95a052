"""``ctm evaluate memory``: peak memory and fallbacks against what AI Hub publishes."""

from __future__ import annotations

import argparse
from pathlib import Path

from ctm_research.commands.data import data_options
from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give
from predictor.cli.parser import Parser
from predictor.cli.progress import progress_on


def add_memory(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Hold weights and live activations against AI Hub's ranges of peak memory, and the "
        "operators that are named as not supported against the layers that fell back."
    )
    parser.set_defaults(run=_run)
    data_options(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; always 0."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.aihub_memory import (  # noqa: PLC0415
            memory_check,
            memory_page,
        )

    output = checked_output(options)
    document = memory_check(Path(options.data), progress_on(console))
    command = "ctm evaluate memory --data DIR --output OUT.json"
    give(command, document, memory_page, output, options, console)
    return 0
