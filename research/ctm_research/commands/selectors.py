"""``ctm evaluate selectors``: selectors of reference networks on published measurements."""

from __future__ import annotations

import argparse
from pathlib import Path

from ctm_research.commands.data import data_options
from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give
from predictor.cli.parser import EPILOG, Parser, positive_int, thread_count
from predictor.cli.progress import progress_on
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME

_DRAWS = 5


def add_selectors(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Let each selector choose networks among those measured on silicon left out, and say how "
        "far off the others are predicted from them."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    data_options(parser)
    parser.add_argument("--seed", type=thread_count, default=0, metavar="N", help="default: 0")
    parser.add_argument(
        "--draws",
        type=positive_int,
        default=_DRAWS,
        metavar="N",
        help="of selectors that begin at random (default: %(default)s)",
    )


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; always 0."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.judge.selectors import (  # noqa: PLC0415
            compare_selectors,
            selectors_page,
        )

    output = checked_output(options)
    document = compare_selectors(
        Path(options.data),
        load_catalogue().by_id,
        seed=options.seed,
        draws=options.draws,
        progress=progress_on(console),
    )
    command = (
        f"ctm evaluate selectors --data DIR --seed {options.seed} --draws {options.draws} "
        "--output OUT.json"
    )
    give(command, document, selectors_page, output, options, console, CLOSERTOME)
    return 0
