"""The options of an evaluation on published measurements."""

from __future__ import annotations

from predictor.cli.evaluate.figures import output_option
from predictor.cli.parser import Parser, json_option


def data_options(parser: Parser) -> None:
    """Add the folder of published measurements, ``--output`` and ``--json``."""
    parser.add_argument(
        "--data", required=True, metavar="DIR", help="folder with one folder a source"
    )
    output_option(parser)
    json_option(parser)
