"""``ctm evaluate measurements``: an engine against a user's own table of latencies."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from predictor.cli.console import Console
from predictor.cli.evaluate.figures import check_output
from predictor.cli.outputs import OutputAction
from predictor.cli.parser import EPILOG, Parser, json_option, positive_int, thread_count
from predictor.cli.progress import progress_on
from predictor.cli.tables import render_table
from predictor.core.errors import InputError
from predictor.core.files import write_text
from predictor.core.text import printable
from predictor.presentation.wording import number
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.measurements.document import document
from predictor.services.measurements.draws import Plan
from predictor.services.measurements.experiment import run_experiment
from predictor.services.measurements.measured_table import open_measured_table
from predictor.services.measurements.origin import environment_of, origin_of
from predictor.services.measurements.page import page
from predictor.services.prediction.engines import open_engine

_SELECTORS = ("random", "dbsel", "dopt")
_COLUMNS = {
    "MAPE %": "mape_percent",
    "Median %": "median_ape_percent",
    "Within 10 %": "acc10_percent",
    "80 % covers": "coverage80_percent",
    "95 % covers": "coverage95_percent",
}


def add_measurements(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Predict the rows of a table of measured latencies, with or without some of "
        "them as probes, and say how far off the predictions are."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
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
        "--output",
        action=OutputAction,
        required=True,
        metavar="OUT.json",
        help="file of rows and summary",
    )
    parser.add_argument(
        "--page",
        action=OutputAction,
        metavar="FILE.md",
        help="write a page with the figures as well",
    )
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Predict the table, write document and page, and print the summary; always 0."""
    output = Path(options.output)
    page_path = Path(options.page) if options.page else None
    # Before the work, which takes minutes: a wrong place must not cost the figures.
    check_output(output)
    if page_path is not None:
        _check_page(page_path)
    engine = open_engine(options.engine)
    progress = progress_on(console)
    folders = Path(options.table), Path(options.graphs), Path(options.devices)
    table = open_measured_table(*folders, load_catalogue(), progress)
    plan = Plan(options.probes, options.selector, options.seeds)
    outcome = run_experiment(table, plan, engine, progress)
    environment = environment_of(_command(options), engine=outcome.engine)
    figures = {**environment, **document(table, plan, outcome)}
    write_text(output, json.dumps(figures, indent=1, allow_nan=False) + "\n")
    if page_path is not None:
        write_text(page_path, page(figures, origin_of(environment)))
    for label, reason in outcome.left_out.items():
        console.note(f"Left out: {printable(label)}: {reason}.")
    if options.json:
        console.document(figures)
    else:
        console.result(_summary(figures))
        console.note(f"Written: {', '.join(str(p) for p in (output, page_path) if p)}")
    return 0


def _check_page(path: Path) -> None:
    if path.suffix != ".md":
        raise InputError(str(path), "it does not end in .md", "name a file FILE.md")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(str(path), "no file can be there", "name a file in a folder that exists")


def _command(options: argparse.Namespace) -> str:
    """Return the command without the folders of this machine."""
    probes = "" if options.probes is None else f" --probes {options.probes}"
    engine = f" --engine {options.engine}" if options.engine else ""
    return (
        f"ctm evaluate measurements --table T.csv --graphs DIR --devices DIR{probes} "
        f"--selector {options.selector} --seeds {options.seeds}{engine} --output OUT.json"
    )


def _summary(figures: Mapping[str, Any]) -> str:
    """Write the figures by target and in all."""
    entries = [*figures["summary"]["targets"], {"label": "all", **figures["summary"]["all"]}]
    rows = [
        [
            printable(entry["label"]),
            str(entry.get("probes", "")),
            str(entry["rows"]),
            *(number(entry[name]) for name in _COLUMNS.values()),
        ]
        for entry in entries
    ]
    headers = ["Target", "Probes", "Rows", *_COLUMNS]
    return render_table(headers, rows, " " + "r" * (len(headers) - 1))
