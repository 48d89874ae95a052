"""``ctm choose``: the hardware that meets a budget."""

from __future__ import annotations

import argparse
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.language_options import RUNTIMES as LANGUAGE_RUNTIMES
from predictor.cli.language_options import (
    card_options,
    cost_options,
    length_options,
    stored_rates_option,
    weights_option,
)
from predictor.cli.parser import (
    EPILOG,
    Parser,
    RuntimeNames,
    json_option,
    measure_option,
    measured_option,
    positive_float,
    positive_int,
    shape_options,
    thread_count,
)
from predictor.cli.reading import readings_of
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Precision
from predictor.core.run_facts import MEDIAN, PERCENTILES
from predictor.core.runtimes import usual_name
from predictor.services.models.files import names_language_model


def add_choose(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Rank devices and configurations by the chance that every model keeps the budget on them, "
        "and name the one measurement that would settle the choice."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run, engine="")
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help="a file, a folder to search at any depth, or a pattern in quotes ('models/*.onnx')",
    )
    parser.add_argument(
        "--load",
        type=Path,
        metavar="LOAD.toml",
        help="in place of models: streams and pipelines, as for ctm load; ranks boxes in their "
        "modes, or each --device as a box, by whether they carry it and their watts",
    )
    parser.add_argument(
        "--box",
        action="append",
        default=[],
        metavar="ID|BOX.json",
        help="with --load: a box to try, yours among them, in place of those that ship; may be "
        "repeated",
    )
    _add_budget(parser)
    _add_wanted(parser)
    _add_language(parser)
    shape_options(parser)
    measure_option(parser, networks=True)
    measured_option(parser)
    parser.add_argument(
        "--rows",
        type=thread_count,
        default=10,
        metavar="N",
        help="devices that are listed, the best first (default 10; 0: all)",
    )
    json_option(parser)


def _add_budget(parser: Parser) -> None:
    budget = parser.add_argument_group("budget", "limits of each model; at least one")
    budget.add_argument("--max-ms", type=positive_float, metavar="X", help="latency of one run")
    budget.add_argument(
        "--min-fps",
        type=positive_float,
        metavar="X",
        help="items a second; up to 16 times the batch is tried for it",
    )
    budget.add_argument(
        "--min-throughput",
        type=positive_float,
        metavar="X",
        help="items a second with as many runs at once as the runtime would choose, as ctm predict "
        "--throughput has them; of one run after the other where nothing shows what several bring",
    )
    budget.add_argument(
        "--max-watts",
        type=positive_float,
        metavar="X",
        help="power that the device (TDP) or its power mode is stated to draw",
    )
    budget.add_argument(
        "--max-memory-mb", type=positive_float, metavar="X", help="weights and activations, 1e6 B"
    )
    budget.add_argument(
        "--percentile",
        type=int,
        default=MEDIAN,
        choices=PERCENTILES,
        help="of the runs that keep --max-ms (default 50); 90 and 99 where published logs state "
        "them for the runtime and the kind of device, else P50 is judged, and said to be",
    )
    budget.add_argument(
        "--chance",
        type=_chance,
        default=0.5,
        metavar="PERCENT",
        help="least chance of keeping the budget, with which it counts as met (default 50)",
    )


def _add_wanted(parser: Parser) -> None:
    wanted = parser.add_argument_group(
        "options to choose from", "each may be repeated; without one, all that is in the catalogue"
    )
    wanted.add_argument(
        "--device",
        action="append",
        default=[],
        metavar="ID|DEVICE.json|this",
        help="a device, shipped or your own: its id, a unique part of its name, a device file, or "
        "this machine",
    )
    wanted.add_argument(
        "--family", action="append", default=[], choices=[str(family) for family in Family]
    )
    wanted.add_argument(
        "--runtime",
        action="append",
        default=[],
        type=usual_name,
        choices=RuntimeNames(*LANGUAGE_RUNTIMES),
    )
    wanted.add_argument(
        "--precision",
        action="append",
        default=[],
        choices=[str(precision) for precision in Precision],
    )
    wanted.add_argument(
        "--threads",
        action="append",
        default=[],
        type=_threads,
        metavar="N|every",
        help="of processors; 0: all cores (usual); every: each number up to that of the cores",
    )
    wanted.add_argument(
        "--mode",
        action="append",
        default=[],
        metavar="NAME",
        help="operating points by name, such as 15W, in place of the usual clocks and all power "
        "modes (ctm devices show ID lists them)",
    )
    wanted.add_argument(
        "--times-batch",
        action="append",
        default=[],
        type=positive_int,
        metavar="N",
        help="runs over so many times the models' batch (usual: 1; with --min-fps 1 to 16)",
    )


def _add_language(parser: Parser) -> None:
    language = parser.add_argument_group(
        "language models", "of one config.json, its folder or GGUF file, with limits of their own"
    )
    language.add_argument(
        "--min-tokens-per-s", type=positive_float, metavar="F", help="limit: new tokens a second"
    )
    language.add_argument(
        "--max-ttft", type=positive_float, metavar="MS", help="limit: to the first token"
    )
    language.add_argument(
        "--sort",
        default="",
        choices=("tokens", "first", "joules", "cost"),
        help="rank what keeps the budget by this (default: by the chance)",
    )
    length_options(language)
    cost_options(parser)
    weights_option(parser)
    card_options(parser)
    stored_rates_option(parser)
    parser.set_defaults(context=0)


def _chance(text: str) -> float:
    value = positive_float(text)
    if value >= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 100")
    return value / 100


def _threads(text: str) -> int | None:
    return None if text == "every" else thread_count(text)


def _run(options: argparse.Namespace, console: Console) -> int:
    if (options.load is None) == (not options.models):
        raise InputError(
            "ctm choose",
            "it needs models, or a load",
            "name a model file and a limit, or --load LOAD.toml",
        )
    if options.box and options.load is None:
        raise InputError("--box", "it is what a load runs on", "state a load: --load LOAD.toml")
    if options.load is not None:
        from predictor.cli.choose.load import choose_by_load  # noqa: PLC0415  # NumPy

        return choose_by_load(options, console)
    if any(map(names_language_model, options.models)):
        from predictor.cli.choose.language import run as run_language  # noqa: PLC0415

        return run_language(options, console)
    for name in ("min_tokens_per_s", "max_ttft", "max_joules", "max_cost"):
        if getattr(options, name) is not None:
            raise InputError(
                f"--{name.replace('_', '-')}",
                "it is a limit of a language model",
                "name a config.json, its folder or a GGUF file",
            )
    with readings_of(options.models, options) as readings:
        # Imports NumPy and the store while the worker starts.
        from predictor.cli.choose.command import run  # noqa: PLC0415

        return run(options, console, readings)
