"""``ctm evaluate classes``: errors by runtime and kind of device, on silicon left out."""

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


def add_classes(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Judge the analytic estimates and the shipped engine by runtime and kind of device, on "
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
        "--analytic", action="store_true", help="without the shipped engine: a quarter of the time"
    )
    parser.add_argument(
        "--network",
        metavar="DIR",
        help="also train the network without the silicon of three folds, hours each; what is "
        "trained is kept in DIR",
    )


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; always 0."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.judge.command import judge_data  # noqa: PLC0415
        from ctm_research.evaluation.judge.page import page  # noqa: PLC0415

    output = checked_output(options)
    document = judge_data(
        Path(options.data),
        load_catalogue().by_id,
        seed=options.seed,
        draws=options.draws,
        with_shipped=not options.analytic,
        network=Path(options.network) if options.network else None,
        progress=progress_on(console),
    )
    give(_command(options), document, page, output, options, console, CLOSERTOME)
    return 0


def _command(options: argparse.Namespace) -> str:
    """Return the command without the folders of this machine."""
    draws = "" if options.draws == 5 else f" --draws {options.draws}"
    seed = f" --seed {options.seed}" if options.seed else ""
    analytic = " --analytic" if options.analytic else ""
    network = " --network DIR" if options.network else ""
    return f"ctm evaluate classes --data DIR{draws}{seed}{analytic}{network} --output OUT.json"
