"""``ctm train``: the checkpoint of the learned engine, from published measurements."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from predictor.cli.console import Console
from predictor.cli.evaluate_command import environment_of
from predictor.cli.progress_line import progress_on
from predictor.core.errors import HostError, InputError
from predictor.services.devices.catalogue import load_catalogue

_COMMAND: Final = "ctm train --data DIR --out DIR"


def run(options: argparse.Namespace, console: Console) -> int:
    """Train, and write the checkpoint with its model card; always 0."""
    if options.steps is not None and options.steps < 1:
        raise InputError("--steps", f"it is {options.steps}", "give a number above 0")
    try:
        # For this command alone, and torch is not part of every installation.
        from predictor.research.evaluation.corpus.engine_maker import EngineMaker  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise HostError(
            "training", f"{error.name} is not installed", "install closertome[train]"
        ) from error
    progress, out = progress_on(console), Path(options.out)
    maker = EngineMaker(
        Path(options.data),
        load_catalogue().by_id,
        out,
        environment_of(_COMMAND),
        steps=options.steps,
        seed=options.seed,
        progress=progress,
    )
    maker.validate(progress)
    if not options.validate_only:
        maker.ship(progress)
    console.note(f"Written: {out}")
    return 0
