"""The options of ``ctm evaluate measurements``."""

from __future__ import annotations

import argparse

from predictor.cli.options import EPILOG, Parser, json_option, positive_int, thread_count

_SELECTORS = ("random", "dbsel", "dopt")


def add_measurements(subjects: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    """Add the subject."""
    parser = subjects.add_parser(
        "measurements",
        parents=[shared],
        help="an engine against a table of your own",
        description="Predict the rows of a table of measured latencies, with or without some of "
        "them as probes, and say how far off the predictions are.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "--table",
        required=True,
        metavar="T.csv",
        help="columns target, model, latency_ms; optionally runtime, precision, threads (empty or "
        "0: all cores), batch, role (probe or test)",
    )
    parser.add_argument("--graphs", required=True, metavar="DIR", help="folder of MODEL.onnx")
    parser.add_argument(
        "--devices", required=True, metavar="DIR", help="folder of TARGET.json device files"
    )
    parser.add_argument(
        "--probes",
        type=thread_count,
        metavar="K",
        help="latencies of a target that the engine is given (default: none, or all rows of the "
        "role probe)",
    )
    parser.add_argument(
        "--selector",
        default=_SELECTORS[0],
        choices=_SELECTORS,
        help="what chooses them (default: %(default)s)",
    )
    parser.add_argument(
        "--seeds",
        type=positive_int,
        default=10,
        metavar="N",
        help="how often they are chosen (default: %(default)s)",
    )
    parser.add_argument(
        "--engine", default="", metavar="NAME", help="closertome (usual) or roofline"
    )
    parser.add_argument(
        "--output", required=True, metavar="OUT.json", help="file of rows and summary"
    )
    parser.add_argument("--page", metavar="FILE.md", help="write a page with the figures as well")
    json_option(parser)
