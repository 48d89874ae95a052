"""``ctm predict``: the latency of models on devices."""

from __future__ import annotations

import argparse

from predictor.cli.console import Console
from predictor.cli.parser import EPILOG, Parser, json_option, prediction_options
from predictor.cli.reading import reading_found


def add_predict(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = "Predict the latency of each model on each device."
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    prediction_options(parser, "exit 1 when a latency is over it")
    parser.add_argument("--operators", action="store_true", help="where the time goes")
    parser.add_argument(
        "--node-data",
        metavar="FILE.json",
        help="write latency by operator as node data of Model Explorer, and the shares beside it "
        "in FILE.share.json (one model, one device)",
    )
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    with reading_found(options.models, options) as readings:
        # Imports NumPy and the store while the worker starts.
        from predictor.cli.predict.command import run  # noqa: PLC0415

        return run(options, console, readings)
