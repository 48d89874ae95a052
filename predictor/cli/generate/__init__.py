"""``ctm generate``: language models on devices."""

from __future__ import annotations

import argparse

from predictor.cli.console import Console
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
    parser.add_argument(
        "model",
        metavar="MODEL|config.json",
        help="the decoder: its config.json, the folder that holds it, a GGUF file or a model file",
    )
    device_options(parser, "every shipped device that can run it")
    run_options(parser)
    _count(parser, "batch", 1, "sequences at once")
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
        help="llama.cpp (usual), llama.cpp-vulkan, llama.cpp-rocm, mlc, onnxruntime-genai, genie, "
        "tensorrt-llm or vllm",
    )
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
    parser.add_argument(
        "--no-own",
        dest="own",
        action="store_false",
        help="leave out the tokens a second that you typed in the window, and what you probed",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write a report too: .pdf, .md or .json by the ending",
    )
    json_option(parser)


def run_options(parser: Parser) -> None:
    """Add the options of a language model's run: lengths, and the format of its weights."""
    _count(parser, "prompt", 512, "tokens of the prompt", " or half of a shorter context")
    _count(parser, "new", 128, "tokens generated after it", " or a quarter of a shorter context")
    parser.add_argument(
        "--context",
        type=positive_int,
        default=0,
        metavar="N",
        help="tokens in the cache at which tokens a second are given (default: the prompt and half "
        "of the new tokens)",
    )
    parser.add_argument(
        "--weights",
        default="",
        metavar="FORMAT",
        help="format of the weights: q4_k_m, q4_0, q8_0, fp16, int4-32, ... (default: that of "
        "the file, else the usual one of the runtime: q4_k_m under llama.cpp)",
    )


def card_options(parser: Parser) -> None:
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


def _run(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.generate.command import run  # noqa: PLC0415  # imports NumPy

    return run(options, console)


def _count(parser: Parser, name: str, usual: int, text: str, shorter: str = "") -> None:
    parser.add_argument(
        f"--{name}",
        type=positive_int,
        metavar="N",
        help=f"{text} (default: {usual}{shorter})",
    )
