"""``ctm predict``: the latency of models on devices."""

from __future__ import annotations

import argparse

from predictor.cli.console import Console
from predictor.cli.parser import EPILOG, Parser, json_option, measured_option, prediction_options
from predictor.cli.reading import reading_found


def add_predict(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = "Predict the latency of each model on each device."
    _add_options(parser)
    parser.add_argument("--operators", action="store_true", help="where the time goes")
    parser.add_argument(
        "--sensitivity",
        action="store_true",
        help="what more of each fact of the device, another precision, batch or number of threads "
        "would change",
    )


def add_explain(parser: Parser) -> None:
    """Add the options of ``ctm explain``: a prediction with its operators and its sensitivity."""
    parser.description = "Say where the time of each model goes on each device, and what moves it."
    _add_options(parser)
    parser.set_defaults(operators=True, sensitivity=True)


def _add_options(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    prediction_options(parser, "exit 1 when a latency is over it")
    measured_option(parser)
    parser.add_argument(
        "--node-data",
        metavar="FILE.json",
        help="write latency by operator as node data of Model Explorer, and the shares beside it "
        "in FILE.share.json (one model, one device)",
    )
    parser.add_argument(
        "--trace",
        metavar="FILE.json",
        help="write the operators over time as trace events, which Perfetto opens (one model, one "
        "device)",
    )
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    with reading_found(options.models, options) as readings:
        # Imports NumPy and the store while the worker starts.
        from predictor.cli.predict.command import run  # noqa: PLC0415

        return run(options, console, readings)
