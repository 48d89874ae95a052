"""``ctm evaluate track``: the record of the shipped estimate on hardware that it had not seen."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.evaluate.figures import check_output, environment_of, origin_of
from predictor.cli.parser import EPILOG, Parser, json_option
from predictor.core.files import write_text
from predictor.services.measurements.track_record import page, track_record


def add_track(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Tell how far off the shipped estimate was, by runtime and kind of device, on chips and "
        "devices that were left out when it was fitted. Needs no data."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    parser.add_argument(
        "--output", metavar="OUT.json", help="write the figures here and a page OUT.md beside"
    )
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures and their page; always 0."""
    output = Path(options.output) if options.output else None
    if output is not None:
        check_output(output)
    environment = environment_of("ctm evaluate track --output OUT.json")
    figures = {**environment, **track_record()}
    text = page(figures, origin_of(environment))
    if output is not None:
        write_text(output, json.dumps(figures, indent=1, allow_nan=False) + "\n")
        write_text(output.with_suffix(".md"), text)
    if options.json:
        console.document(figures)
    elif output is None:
        console.result(text)
    else:
        console.note(f"Written: {output} and {output.with_suffix('.md')}")
    return 0
