"""``ctm load``: streams and pipelines on a box."""

from __future__ import annotations

import argparse
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.outputs import OutputAction
from predictor.cli.parser import Parser, clock_options, json_option, measure_option

EPILOG = """\
exit codes: 0 it holds, 1 it does not, 2 the input is wrong, 3 the host failed, 130 cancelled
"""


def add_load(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Simulate streams of items through pipelines of models on the units of a box: utilisation, "
        "percentiles, deadlines missed, the largest rate and number of streams, memory and watts, "
        "and the modes and clocks of the box that keep the load."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run, engine="")
    parser.add_argument(
        "load", type=Path, metavar="LOAD.toml", help="streams, their stages and the box"
    )
    box = parser.add_mutually_exclusive_group()
    box.add_argument(
        "--box", metavar="ID|BOX.json", help="run on this box (ctm devices boxes lists them)"
    )
    box.add_argument(
        "--device",
        action="append",
        default=[],
        metavar="ID|DEVICE.json|this",
        help="run on this device, or on all of a product, as one box; may be repeated",
    )
    clock_options(parser)
    measure_option(parser)
    parser.add_argument(
        "--report",
        action=OutputAction,
        metavar="FILE",
        help="write a report too: .pdf, .md or .json by the ending",
    )
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.load.command import run  # noqa: PLC0415  # imports NumPy

    return run(options, console)
