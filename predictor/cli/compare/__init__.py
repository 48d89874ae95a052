"""``ctm compare``: several models against one of them."""

from __future__ import annotations

import argparse

from predictor.cli.console import Console
from predictor.cli.parser import EPILOG, Parser, json_option, prediction_options
from predictor.cli.reading import readings_of


def add_compare(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Predict several models and say how they differ from the first on each device."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    prediction_options(parser, "exit 1 when no model meets it on a device")
    parser.add_argument(
        "--baseline",
        metavar="MODEL",
        help="the model that the others are compared with: its file's name (default: the first)",
    )
    parser.add_argument(
        "--operators",
        action="store_true",
        help="operators added, removed and changed, and where the time goes",
    )
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    with readings_of(options.models, options) as readings:
        # Imports NumPy and the store while the worker starts.
        from predictor.cli.compare.command import run  # noqa: PLC0415

        return run(options, console, readings)
