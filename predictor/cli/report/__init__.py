"""``ctm report``: predictions and all that explains them, as a document."""

from __future__ import annotations

import argparse
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.generate import run_options
from predictor.cli.outputs import OutputAction
from predictor.cli.parser import Parser, measured_option, positive_int, prediction_options
from predictor.cli.reading import readings_of
from predictor.presentation.report import APPENDICES, USUAL_SECTIONS, SectionId
from predictor.services.report.files import check_report_path

_SECTIONS = tuple(section.value for section in SectionId)
_OPERATORS = 15


def add_report(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Predict the latency of each model on each device and write a report on it. Of language "
        "models (decoders in ONNX, GGUF or config.json files) it has the tokens a second."
    )
    parser.epilog = "exit codes: 0 done, 2 the input is wrong, 3 the host failed, 130 cancelled"
    parser.set_defaults(run=_run)
    prediction_options(parser, "the latency that you allow: the report says who meets it")
    measured_option(parser)
    run_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        action=OutputAction,
        required=True,
        metavar="FILE",
        help="the file to write: report.pdf, report.md or report.json",
    )
    parser.add_argument(
        "--page", choices=("a4", "letter"), default="a4", help="size of the pages (default: a4)"
    )
    parser.add_argument(
        "--sections",
        type=_sections,
        default=USUAL_SECTIONS,
        metavar="NAME,NAME",
        help=f"what is to be in it (default: {', '.join(USUAL_SECTIONS)})",
    )
    parser.add_argument(
        "--with",
        dest="appendices",
        type=_appendices,
        default=(),
        metavar="NAME,NAME",
        help=f"appendices behind it: {', '.join(APPENDICES)}, or all of them",
    )
    parser.add_argument(
        "--top",
        type=positive_int,
        default=_OPERATORS,
        metavar="N",
        help=f"list the N slowest operators of each pair (default: {_OPERATORS})",
    )
    parser.add_argument("--title", default="", metavar="TEXT", help="title of the report")


def _appendices(text: str) -> tuple[SectionId, ...]:
    return APPENDICES if text.strip() == "all" else _sections(text)


def _sections(text: str) -> tuple[SectionId, ...]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in _SECTIONS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"there is no section {unknown[0]!r}, only {', '.join(_SECTIONS)}"
        )
    return tuple(map(SectionId, names))


def _run(options: argparse.Namespace, console: Console) -> int:
    check_report_path(Path(options.output))
    configurations = [path for path in options.models if path.lower().endswith((".json", ".gguf"))]
    models = [path for path in options.models if path not in configurations]
    if not models:
        from predictor.cli.report.language import run_alone  # noqa: PLC0415

        return run_alone(options, console, configurations)
    with readings_of(models, options) as readings:
        # Imports NumPy and the store while the worker starts.
        from predictor.cli.report.command import run  # noqa: PLC0415

        return run(options, console, readings, configurations)
