"""``ctm generate``: language models on devices."""

from __future__ import annotations

import argparse

from predictor.cli.console import Console
from predictor.cli.language_options import (
    card_options,
    count_option,
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
exit codes: 0 done, 1 --min-tokens-per-s missed, 2 the input is wrong, 3 the host failed,
130 cancelled
"""


def add_generate(parser: Parser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Predict time to first token, tokens a second and memory of a language model on each "
        "device, from its Hugging Face config.json, GGUF file or ONNX decoder; no weights are read."
    )
    parser.epilog = EPILOG
    parser.set_defaults(run=_run)
    model_option(parser)
    device_options(parser, "every shipped device that can run it")
    run_options(parser)
    count_option(parser, "batch", 1, "sequences at once")
    runtime_options(parser)
    clock_options(parser)
    card_options(parser)
    parser.add_argument(
        "--host",
        default="",
        metavar="DEVICE",
        help="processor beside the cards: under llama.cpp it has the layers that a card does not "
        "hold",
    )
    parser.add_argument(
        "--card-layers",
        type=thread_count,
        metavar="N",
        help="with --host: layers on the card, as llama.cpp's --n-gpu-layers (default: as many as "
        "it holds)",
    )
    measure_option(parser)
    parser.add_argument(
        "--min-tokens-per-s",
        type=positive_float,
        metavar="F",
        help="exit 1 when a device generates fewer new tokens a second, or does not hold the model",
    )
    parser.add_argument(
        "--measured",
        action="append",
        default=[],
        metavar="DEVICE=TOKENS_PER_S|FILE.json|FILE.md",
        help="new tokens a second that you measured there in this very run, or what llama-bench "
        "wrote, as JSON or as its table; calibrates that device and those near it; may be repeated",
    )
    stored_rates_option(parser)
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write a report too: .pdf, .md or .json by the ending",
    )
    json_option(parser)


def run_options(parser: Parser) -> None:
    """Add the options of a language model's run: lengths, and the format of its weights."""
    length_options(parser)
    parser.add_argument(
        "--context",
        type=positive_int,
        default=0,
        metavar="N",
        help="tokens in the cache at which tokens a second are given (default: the prompt and half "
        "of the new tokens)",
    )
    weights_option(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.generate.command import run  # noqa: PLC0415  # imports NumPy

    return run(options, console)
