"""``ctm evaluate learned``: what the learned parts of the estimate are worth."""

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


def add_learned(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Judge the estimate without each of its learned parts by runtime and kind of device, on "
        "silicon that is left out of training."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    data_options(parser)
    parser.add_argument(
        "--draws",
        type=positive_int,
        default=5,
        metavar="N",
        help="choices of measured networks (default: %(default)s)",
    )
    parser.add_argument("--seed", type=thread_count, default=0, metavar="N", help="default: 0")
    parser.add_argument(
        "--kept", metavar="DIR", help="folder of finished folds, from which a stopped run goes on"
    )


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; always 0."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.judge.learned_parts import (  # noqa: PLC0415
            judge_learned,
            page,
        )

    output = checked_output(options)
    document = judge_learned(
        Path(options.data),
        load_catalogue().by_id,
        seed=options.seed,
        draws=options.draws,
        kept=Path(options.kept) if options.kept else None,
        progress=progress_on(console),
    )
    draws = "" if options.draws == 5 else f" --draws {options.draws}"
    seed = f" --seed {options.seed}" if options.seed else ""
    command = f"ctm evaluate learned --data DIR{draws}{seed} --output OUT.json"
    give(command, document, page, output, options, console, CLOSERTOME)
    return 0
