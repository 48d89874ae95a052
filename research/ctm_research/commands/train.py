"""``ctm train``: the checkpoint of the learned engine, from published measurements."""

from __future__ import annotations

import argparse
from pathlib import Path

from ctm_research.commands.libraries import libraries_needed
from ctm_research.commands.prepare import prepare_targets
from predictor.cli.console import Console
from predictor.cli.parser import Parser
from predictor.cli.progress import progress_on
from predictor.core.errors import InputError
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.measurements.origin import environment_of


def add_train(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Train the network that predictions use. Silicon and families of networks are "
        "held out first: what the network errs by there is what its intervals say. Then it is "
        "trained on everything. A run that was stopped goes on where it was."
    )
    parser.set_defaults(run=_run)
    parser.add_argument("--data", help="folder with one folder a source")
    parser.add_argument("--out", required=True, help="folder of the checkpoint")
    parser.add_argument("--steps", type=int, default=None, help="blocks to learn from")
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn [0]")
    parser.add_argument(
        "--validate-only", action="store_true", help="stop when the held-out figures are written"
    )
    parser.add_argument(
        "--estimate-only",
        action="store_true",
        help="train the estimate of unmeasured hardware alone, in minutes, into a checkpoint",
    )
    parser.add_argument(
        "--targets-only",
        action="store_true",
        help="train nothing: write anew what a checkpoint knows of the shipped devices, in "
        "seconds, after a change of the catalogue or of the physics (without --data)",
    )


def _run(options: argparse.Namespace, console: Console) -> int:
    """Train, and write the checkpoint with its model card; always 0."""
    out = Path(options.out)
    if options.targets_only:
        console.note(f"Written: {prepare_targets(out)}")
        return 0
    if options.data is None:
        raise InputError("--data", "it is missing", "name the folder with one folder a source")
    if options.steps is not None and options.steps < 1:
        raise InputError("--steps", f"it is {options.steps}", "give a number above 0")
    with libraries_needed("training"):
        from ctm_research.evaluation.judge.training import estimate_of_data  # noqa: PLC0415

    progress = progress_on(console)
    devices = load_catalogue().by_id
    if options.estimate_only:
        estimate_of_data(Path(options.data), devices, out, seed=options.seed, progress=progress)
        prepare_targets(out)
        console.note(f"Written: {out}")
        return 0
    # Torch is needed from here on only.
    with libraries_needed("training"):
        from ctm_research.evaluation.engine.maker import EngineMaker  # noqa: PLC0415

    maker = EngineMaker(
        Path(options.data),
        devices,
        out,
        environment_of("ctm train --data DIR --out DIR"),
        steps=options.steps,
        seed=options.seed,
        progress=progress,
    )
    maker.validate(progress)
    if not options.validate_only:
        maker.ship(progress)
        estimate_of_data(Path(options.data), devices, out, seed=options.seed, progress=progress)
        prepare_targets(out)
    console.note(f"Written: {out}")
    return 0
