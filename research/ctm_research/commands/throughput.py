"""``ctm evaluate throughput``: what several runs at once bring, by runtime and kind of device."""

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
from predictor.services.prediction.engines import CLOSERTOME


def add_throughput(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Fit what several runs at once bring over one after the other, by runtime and kind of "
        "device, to published rates beside latencies, and state the errors on systems left out."
    )
    parser.set_defaults(run=_run)
    data_options(parser)
    parser.add_argument(
        "--save", metavar="FILE.json", help="write what predictions read (resources/throughput)"
    )


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures, their page and what ships; always 0."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.throughput.check import (  # noqa: PLC0415
            shipped,
            throughput_check,
        )
        from ctm_research.evaluation.throughput.page import throughput_page  # noqa: PLC0415

    output = checked_output(options)
    document = throughput_check(Path(options.data))
    command = "ctm evaluate throughput --data DIR --output OUT.json"
    figures = give(command, document, throughput_page, output, options, console, CLOSERTOME)
    if options.save:
        write_text(Path(options.save), json.dumps(shipped(figures), indent=1) + "\n")
    return 0
