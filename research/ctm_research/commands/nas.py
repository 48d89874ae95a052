"""``ctm evaluate nas``: latency predictors on neural architecture search spaces."""

from __future__ import annotations

import argparse

from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.parser import EPILOG, Parser, json_option, positive_int, thread_count

_SUITES = (
    *("table1", "systems", "systems-nasbench201"),
    *("figure3", "figure4", "table3", "selectors"),
)


def add_nas(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Train latency predictors on some devices and test them on others, with a few "
        "samples of each. What is finished is kept: a run that was stopped goes on."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    parser.add_argument("--data", required=True, metavar="DIR", help="folder with the folder nas")
    parser.add_argument(
        "--output", required=True, metavar="DIR", help="folder of document, page and plots"
    )
    parser.add_argument(
        "--suite",
        default=_SUITES[0],
        choices=_SUITES,
        help="table or figure of the paper, systems of others, or selectors of probes "
        "(default: %(default)s)",
    )
    for name, example in (("methods", "NAME"), ("partitions", "F@1")):
        parser.add_argument(
            f"--{name}", nargs="+", default=[], metavar=example, help="default: those of the suite"
        )
    _add_repetitions(parser)
    parser.add_argument(
        "--own-probes", action="store_true", help="a method that chooses probes uses its own"
    )
    json_option(parser)


def _add_repetitions(parser: Parser) -> None:
    for name, default, text in (
        ("trainings", 3, "trainings of each method on each partition"),
        ("draws", 10, "choices of samples a training"),
    ):
        parser.add_argument(
            f"--{name}",
            type=positive_int,
            default=default,
            metavar="N",
            help=f"{text} (default: %(default)s)",
        )
    parser.add_argument(
        "--ks",
        type=positive_int,
        nargs="+",
        default=[5, 10, 20],
        metavar="K",
        help="samples of a test device (default: 5 10 20)",
    )
    parser.add_argument(
        "--once",
        nargs="+",
        default=[],
        metavar="NAME",
        help="methods that are trained once on each partition: the slow ones",
    )
    parser.add_argument("--seed", type=thread_count, default=0, metavar="N", help="default: 0")


def _run(options: argparse.Namespace, console: Console) -> int:
    with libraries_needed("the evaluation"):
        from ctm_research.commands.suite import run  # noqa: PLC0415

    return run(options, console)
