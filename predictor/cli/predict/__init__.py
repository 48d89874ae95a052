"""``ctm predict``: the latency of models on devices."""

from __future__ import annotations

import argparse
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.outputs import OutputAction
from predictor.cli.parser import (
    EPILOG,
    Parser,
    clock_options,
    json_option,
    measured_option,
    positive_int,
    prediction_options,
)
from predictor.cli.reading import readings_of
from predictor.core.csv_style import CsvStyle
from predictor.core.errors import InputError


def add_predict(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = "Predict the latency of each model on each device."
    _add_options(parser)
    parser.add_argument("--operators", action="store_true", help="where the time goes")
    parser.add_argument(
        "--sensitivity",
        action="store_true",
        help="what more of each fact of the device, another precision, batch or number of threads "
        "would change",
    )
    parser.add_argument(
        "--throughput",
        action="store_true",
        help="items a second with the batches or streams that the runtime would choose, where "
        "published rates show what they bring",
    )
    parser.add_argument(
        "--energy",
        action="store_true",
        help="energy of a run, where the power of the device is stated or was measured",
    )
    _add_clocks(parser)
    _add_many(parser)


def _add_many(parser: Parser) -> None:
    many = parser.add_argument_group("many models")
    many.add_argument(
        "--rows",
        action=OutputAction,
        type=Path,
        metavar="FILE.jsonl|FILE.csv|FILE.parquet",
        help="write a row for each model and device as soon as the model is predicted, in place of "
        "tables; nothing is stored",
    )
    many.add_argument(
        "--csv-style",
        choices=[str(style) for style in CsvStyle],
        default=str(CsvStyle.POINT),
        help="decimal mark of FILE.csv; comma separates its cells by semicolons (with --rows)",
    )
    many.add_argument(
        "--resume",
        action="store_true",
        help="go on with the file of a run that was ended: models with all rows in it stay (with "
        "--rows)",
    )
    many.add_argument(
        "--jobs",
        type=positive_int,
        default=1,
        metavar="N",
        help="processes that read and predict models (with --rows)",
    )
    many.add_argument(
        "--shard",
        type=_shard,
        default=(1, 1),
        metavar="I/N",
        help="the I-th of N parts of the models, each of every N-th (with --rows)",
    )
    many.add_argument(
        "--cluster",
        metavar="tls://HOST:PORT",
        help="predict on the workers of this Dask cluster (with --rows; needs the extra cluster)",
    )
    for name, what in (
        ("ca", "certificate of the cluster's authority"),
        ("cert", "certificate of this side"),
        ("key", "key of that certificate"),
    ):
        many.add_argument(
            f"--cluster-{name}",
            type=Path,
            metavar="FILE.pem",
            help=f"{what}; default: that of Dask's configuration",
        )


def _add_clocks(parser: Parser) -> None:
    clock_options(parser)
    parser.add_argument(
        "--measured-at",
        action="append",
        default=[],
        metavar="CLOCKS=MS|MODE=MS",
        help="latency in ms that you measured of the model at some clocks (gpu=612,mem=1600=41.7) "
        "or in a mode (15W=41.7); one calibrates all clocks, three show how much waits for the "
        "memory (one model, one device); may be repeated",
    )


def add_explain(parser: Parser) -> None:
    """Add the options of ``ctm explain``: a prediction with its operators and its sensitivity."""
    parser.description = "Say where the time of each model goes on each device, and what moves it."
    _add_options(parser)
    parser.set_defaults(throughput=False, energy=False)
    parser.set_defaults(operators=True, sensitivity=True, rows=None, jobs=1, shard=(1, 1))
    parser.set_defaults(cluster=None, cluster_ca=None, cluster_cert=None, cluster_key=None)
    parser.set_defaults(resume=False, csv_style=CsvStyle.POINT, mode="", clock="", measured_at=[])


def _add_options(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    prediction_options(parser, "exit 1 when a latency is over it")
    measured_option(parser)
    parser.add_argument(
        "--node-data",
        action=OutputAction,
        metavar="FILE.json",
        help="write latency by operator as node data of Model Explorer, and the shares beside it "
        "in FILE.share.json (one model, one device)",
    )
    parser.add_argument(
        "--trace",
        action=OutputAction,
        metavar="FILE.json",
        help="write the operators over time as trace events, which Perfetto opens (one model, one "
        "device)",
    )
    json_option(parser)


def _shard(text: str) -> tuple[int, int]:
    part, _, count = text.partition("/")
    if not (part.isdecimal() and count.isdecimal() and 1 <= int(part) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form I/N, with I from 1 to N")
    return int(part), int(count)


def _run(options: argparse.Namespace, console: Console) -> int:
    if options.rows is not None:
        from predictor.cli.predict.rows import write_rows  # noqa: PLC0415  # NumPy

        return write_rows(options, console)
    usual_values = (
        ("jobs", 1),
        ("shard", (1, 1)),
        ("resume", False),
        ("cluster", None),
        ("csv_style", CsvStyle.POINT),
    )
    for name, usual in usual_values:
        if getattr(options, name) != usual:
            option = f"--{name.replace('_', '-')}"
            raise InputError(option, "it needs --rows", "name a file for the rows")
    with readings_of(options.models, options) as readings:
        # Imports NumPy and the store while the worker starts.
        from predictor.cli.predict.command import run  # noqa: PLC0415

        return run(options, console, readings)
