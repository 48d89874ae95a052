"""A frozen program that was started as the probe runner, one of its blocks, or the builder."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.probing.networks.build import main as build
from predictor.probing.runner.command import main
from predictor.probing.runner.process import FROZEN_FLAG
from predictor.services.probing.build import BUILDER_FLAG


def serve_if_runner(arguments: Sequence[str]) -> int | None:
    """Be the probe runner or the builder of networks where a frozen program was started as one.

    Args:
        arguments: the program's, without its name.

    Returns:
        The exit code once that has ended; None where the program is to run as usual.
    """
    if list(arguments[:1]) == [BUILDER_FLAG]:
        return build()
    if list(arguments[:1]) == [FROZEN_FLAG]:
        return main(arguments[1:])
    return None
