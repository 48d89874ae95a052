"""Options that the commands on language models share."""

from __future__ import annotations

import argparse
from typing import Final

from predictor.cli.parser import Parser, positive_float, positive_int

# As ``predictor.language.runtimes`` has them, which is not imported to read a command line.
RUNTIMES: Final = (
    *("llama.cpp", "llama.cpp-vulkan", "llama.cpp-rocm", "genie", "mlc"),
    *("onnxruntime-genai", "tensorrt-llm", "vllm"),
)


def model_option(parser: Parser) -> None:
    """Add the decoder."""
    parser.add_argument(
        "model",
        metavar="MODEL|config.json",
        help="the decoder: its config.json, the folder that holds it, a GGUF file or a model file",
    )


def length_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add ``--prompt`` and ``--new``."""
    count_option(parser, "prompt", 512, "tokens of a prompt", " or half of a shorter context")
    count_option(parser, "new", 128, "tokens of an answer", " or a quarter of a shorter context")


def count_option(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup,
    name: str,
    usual: int,
    text: str,
    shorter: str = "",
) -> None:
    """Add a number of tokens or sequences, None where it is not stated."""
    parser.add_argument(
        f"--{name}", type=positive_int, metavar="N", help=f"{text} (default: {usual}{shorter})"
    )


def weights_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--weights``."""
    parser.add_argument(
        "--weights",
        default="",
        metavar="FORMAT",
        help="format of the weights: q4_k_m, q4_0, q8_0, fp16, fp8, int4-32, ... (default: that of "
        "the file, else the usual one of the runtime: q4_k_m under llama.cpp)",
    )


def runtime_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--kv-precision`` and ``--runtime``."""
    parser.add_argument(
        "--kv-precision",
        default="",
        metavar="P",
        help="precision of the KV cache: fp16, q8_0, ... (default: an ONNX file's own, else fp16)",
    )
    parser.add_argument(
        "--runtime",
        default="",
        metavar="NAME",
        help=f"the first that runs there (usual) of {', '.join(RUNTIMES)}",
    )


def card_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--cards`` and ``--pipeline``."""
    parser.add_argument(
        "--cards",
        type=positive_int,
        default=1,
        metavar="N",
        help="of each device that share the model: its layers under vLLM, TensorRT-LLM and MLC",
    )
    parser.add_argument(
        "--pipeline",
        action="store_true",
        help="with --cards: each card has some of the layers, as under llama.cpp",
    )


def stored_rates_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--no-own``."""
    parser.add_argument(
        "--no-own",
        dest="own",
        action="store_false",
        help="leave out the tokens a second that you typed in the window, and what you probed",
    )


def cost_options(parser: Parser) -> None:
    """Add a price and the limits of energy and money."""
    cost = parser.add_argument_group("energy and money")
    cost.add_argument(
        "--price-per-hour",
        action="append",
        default=[],
        metavar="X|DEVICE=X",
        help="of one card, in your currency, of all devices or of one; may be repeated: gives the "
        "cost of a million new tokens",
    )
    cost.add_argument(
        "--max-joules", type=positive_float, metavar="J", help="limit: joules of a new token"
    )
    cost.add_argument(
        "--max-cost", type=positive_float, metavar="X", help="limit: cost of a million new tokens"
    )
