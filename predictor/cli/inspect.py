"""``ctm inspect``: a model's operators with their shapes, MACs and bytes."""

from __future__ import annotations

import argparse

from predictor.cli.console import Console
from predictor.cli.parser import EPILOG, Parser, json_option, shape_options
from predictor.cli.reading import reading


def add_inspect(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = "Show a model's operators with their shapes, MACs and bytes."
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    parser.add_argument("model", metavar="MODEL")
    shape_options(parser)
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    with reading([options.model], options) as (model_read,):
        # Imports NumPy while the worker starts.
        from predictor.cli.model_text import model_and_operators  # noqa: PLC0415
        from predictor.services.models.inspection import inspection_document  # noqa: PLC0415

        model = model_read.result()
        if options.json:
            console.document(inspection_document(model))
        else:
            console.result(model_and_operators(model))
    return 0
