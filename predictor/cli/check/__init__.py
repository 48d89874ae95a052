"""``ctm check``: the models of a repository against their budgets."""

from __future__ import annotations

import argparse
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.outputs import OutputAction
from predictor.cli.parser import EPILOG, Parser, json_option


def add_check(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Hold the models of a repository against the limits of a file: latency, memory, and growth "
        "since a base commit. Your store is not read: every machine gives the same."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run, measure=False)
    parser.add_argument(
        "budget",
        type=Path,
        metavar="ctm-budget.toml",
        help="the file; paths in it are from its folder",
    )
    parser.add_argument(
        "--base", type=Path, metavar="FILE.json", help="--save of the base commit, for growth"
    )
    parser.add_argument(
        "--save",
        action=OutputAction,
        type=Path,
        metavar="FILE.json",
        help="write the JSON document",
    )
    parser.add_argument(
        "--summary",
        action=OutputAction,
        type=Path,
        metavar="FILE.md",
        help="append Markdown, as to $GITHUB_STEP_SUMMARY",
    )
    parser.add_argument(
        "--junit", action=OutputAction, type=Path, metavar="FILE.xml", help="write JUnit XML"
    )
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.check.command import run  # noqa: PLC0415  # NumPy

    return run(options, console)
