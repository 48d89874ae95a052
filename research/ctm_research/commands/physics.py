"""``ctm evaluate physics``: parts of the physics, each left out or replaced in turn."""

from __future__ import annotations

import argparse
from pathlib import Path

from ctm_research.commands.data import data_options
from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give
from predictor.cli.parser import EPILOG, Parser, thread_count
from predictor.cli.progress import progress_on
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME


def add_physics(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Judge forms of the physics by runtime and kind of device, in inner folds over the "
        "training silicon: kernels, blocks, caches, launches, each left out or replaced."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    data_options(parser)
    parser.add_argument("--seed", type=thread_count, default=0, metavar="N", help="default: 0")


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; always 0."""
    with libraries_needed("the evaluation"):
        from ctm_research.evaluation.judge.ablation import (  # noqa: PLC0415
            ablate,
            ablation_page,
        )

    output = checked_output(options)
    document = ablate(
        Path(options.data),
        load_catalogue().by_id,
        seed=options.seed,
        progress=progress_on(console),
    )
    seed = f" --seed {options.seed}" if options.seed else ""
    command = f"ctm evaluate physics --data DIR{seed} --output OUT.json"
    give(command, document, ablation_page, output, options, console, CLOSERTOME)
    return 0
