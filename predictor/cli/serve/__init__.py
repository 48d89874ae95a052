"""``ctm serve``: language models under a load."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.language_options import (
    card_options,
    cost_options,
    length_options,
    model_option,
    runtime_options,
    stored_rates_option,
    weights_option,
)
from predictor.cli.parser import (
    Parser,
    clock_options,
    device_options,
    json_option,
    measure_option,
    positive_float,
    positive_int,
    thread_count,
)

EPILOG = """\
exit codes: 0 done, 1 limits missed or load over capacity, 2 the input is wrong, 3 the host failed,
130 cancelled
"""
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_MAX_RATE = 10_000.0  # as the service has it, which is not imported to read a command line


def add_serve(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Simulate many users of a language model on each device: percentiles of the first token "
        "and of the time per token, the largest rate that keeps limits, and the cards needed."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    model_option(parser)
    device_options(parser, "every shipped device that can run it")
    _load_options(parser)
    _limit_options(parser)
    cost_options(parser)
    _server_options(parser)
    weights_option(parser)
    runtime_options(parser)
    clock_options(parser)
    card_options(parser)
    measure_option(parser)
    stored_rates_option(parser)
    json_option(parser)


def _load_options(parser: Parser) -> None:
    load = parser.add_argument_group("load", "Poisson arrivals of equal lengths, or a trace")
    load.add_argument("--rate", type=rate, metavar="8/s", help="requests a second (/s, /min, /h)")
    length_options(load)
    load.add_argument(
        "--trace",
        type=Path,
        metavar="FILE.csv",
        help="recorded requests: columns time_s, prompt and new; --rate stretches its times",
    )
    load.add_argument(
        "--requests", type=positive_int, default=10_000, metavar="N",
        help="that are simulated (default 10000)",
    )  # fmt: skip
    load.add_argument(
        "--seed", type=thread_count, default=0, metavar="N", help="of the arrivals (default 0)"
    )


def _limit_options(parser: Parser) -> None:
    limits = parser.add_argument_group("limits", "exit 1 where a device does not keep them")
    limits.add_argument("--slo-ttft", type=positive_float, metavar="MS", help="to the first token")
    limits.add_argument(
        "--slo-tpot",
        type=positive_float,
        metavar="MS",
        help="a further token, on average",
    )
    limits.add_argument(
        "--slo-share", type=_percent, default=0.9, metavar="P",
        help="percent of the requests that have to keep both (default 90)",
    )  # fmt: skip


def _server_options(parser: Parser) -> None:
    server = parser.add_argument_group("server")
    server.add_argument(
        "--max-sequences", type=positive_int, default=256, metavar="N",
        help="in a batch (default 256, as vLLM's)",
    )  # fmt: skip
    server.add_argument(
        "--chunked-prefill", type=positive_int, default=0, metavar="TOKENS",
        help="multiply prompts in parts, with the tokens of the batch: this many in a step",
    )  # fmt: skip
    server.add_argument(
        "--prefix-hit", type=_percent, default=0.0, metavar="P",
        help="percent of a prompt that is in the cache already",
    )  # fmt: skip
    server.add_argument(
        "--draft-tokens", type=positive_int, metavar="N",
        help="speculative decoding: tokens drafted for each step",
    )  # fmt: skip
    server.add_argument(
        "--acceptance", type=_percent, metavar="P",
        help="percent of drafted tokens that are right",
    )  # fmt: skip
    server.add_argument(
        "--draft", default="", metavar="config.json",
        help="model that drafts (default: drafts cost nothing)",
    )  # fmt: skip


def rate(text: str) -> float:
    """Return requests a second: ``8``, ``8/s``, ``90/min`` or ``400/h``."""
    number, _, unit = text.partition("/")
    try:
        per_s = float(number) / _SECONDS[unit or "s"]
    except (ValueError, KeyError):
        per_s = math.nan
    if not 0 < per_s <= _MAX_RATE:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no rate over 0 and up to {_MAX_RATE:,.0f} a second, such as 8/s or 90/min"
        )
    return per_s


def _percent(text: str) -> float:
    """Return a share under 1 from percent."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = math.nan
    if not 0 <= value < 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0 to under 100 percent")
    return value / 100


def _run(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.serve.command import run  # noqa: PLC0415  # imports NumPy

    return run(options, console)
