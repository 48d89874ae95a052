"""``ctm evaluate systems``: the systems of published papers on the same measurements."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from ctm_research.commands.libraries import libraries_needed
from predictor.cli.console import Console
from predictor.cli.evaluate.figures import checked_output, give
from predictor.cli.parser import EPILOG, Parser, json_option, thread_count
from predictor.cli.progress import progress_on
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME

_WORK = "systems-work"  # beside the page: folds that are finished


def add_systems(parser: Parser) -> None:
    """Add the options of the subject."""
    parser.description = (
        "Train the latency predictors of published papers on some silicon and test them on other, "
        "beside the product's. What is finished is kept: a run that was stopped goes on."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    parser.add_argument(
        "--data", required=True, metavar="DIR", help="folder with one folder a source"
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="OUT.json",
        help="write the figures here, a page OUT.md and a plot OUT.png beside",
    )
    parser.add_argument(
        "--systems", nargs="+", default=[], metavar="NAME", help="default: all of them"
    )
    parser.add_argument(
        "--minutes",
        type=thread_count,
        default=120,
        metavar="N",
        help="begin no further training after N minutes, none with 0; the page says what is "
        "missing (default: %(default)s)",
    )
    json_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    """Write the figures, their page and plot; always 0."""
    with libraries_needed("the evaluation", "ctm-research[systems]"):
        from ctm_research.evaluation.systems.document import compare  # noqa: PLC0415
        from ctm_research.evaluation.systems.page import page  # noqa: PLC0415
        from ctm_research.evaluation.systems.plot import write_plot  # noqa: PLC0415

    output = checked_output(options)
    assert output is not None  # noqa: S101 - the option is required
    document = compare(
        Path(options.data),
        load_catalogue().by_id,
        options.systems,
        output.parent / _WORK,
        60.0 * options.minutes,
        progress_on(console),
    )
    plot = output.with_suffix(".png")
    with_plot = partial(page, plot=plot.name)
    command = _command(options)
    figures = give(command, document, with_plot, output, options, console, CLOSERTOME)
    write_plot(figures, plot)
    return 0


def _command(options: argparse.Namespace) -> str:
    """Return the command without the folders of this machine."""
    systems = f" --systems {' '.join(options.systems)}" if options.systems else ""
    minutes = f" --minutes {options.minutes}" if options.minutes != 120 else ""
    return f"ctm evaluate systems --data DIR{systems}{minutes} --output OUT.json"
