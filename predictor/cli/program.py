"""The program ``ctm``: from a command line to an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import traceback

from predictor import __version__
from predictor.cli.console import Console
from predictor.cli.outputs import check_outputs
from predictor.cli.parser import EPILOG, Parser, add_commands, everywhere
from predictor.core.errors import CtmError, HostError
from predictor.core.left_over import remove_noted
from predictor.core.libraries import settle_libraries

# Module and line of the help, in the order of the help.
_COMMANDS = {
    "predict": ("predict", "latency of models on devices"),
    "explain": ("predict", "where the time goes, and what would change it"),
    "generate": ("generate", "language models: time to first token, tokens a second, memory"),
    "serve": ("serve", "language models under a load: percentiles, largest rate, cards needed"),
    "load": ("load", "streams and pipelines on a box: what it carries, tails, watts"),
    "compare": ("compare", "models against one of them"),
    "choose": ("choose", "the hardware that meets a budget"),
    "check": ("check", "models of a repository against their budgets, for CI"),
    "report": ("report", "predictions as a PDF, Markdown or JSON document"),
    "inspect": ("inspect", "operators of a model"),
    "devices": ("devices", "the catalogue of devices"),
    "store": ("store", "the local store"),
    "evaluate": ("evaluate", "engines against published measurements"),
    "train": ("ctm_research.commands.train", "train the learned engine on published measurements"),
    "probe": ("probe", "measure reference networks on a device"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the command line without the program's name; None means ``sys.argv``.

    Returns:
        0 done, 1 budget missed, 2 the input is wrong, 3 the host failed, 130 cancelled.

    Raises:
        KeyboardInterrupt: Ctrl+C.
    """
    command_line = sys.argv[1:] if arguments is None else arguments
    # A frozen program has no Python to start children with: it starts itself instead.
    if getattr(sys, "frozen", False):
        from predictor.services.frozen import serve_if_child  # noqa: PLC0415

        served = serve_if_child(command_line)
        if served is not None:
            return served
    # Before a command's module imports numpy or onnxruntime, which read it once.
    settle_libraries()
    console = Console()
    try:
        options = parse(command_line)
        console.quiet = options.quiet
        check_outputs(options)
        remove_noted()
        return int(options.run(options, console))
    except CtmError as error:
        console.error(f"ctm: {error}")
        return error.exit_code
    except ModuleNotFoundError as error:
        console.error(f"ctm: {_not_installed(error)}")
        return HostError.exit_code
    except MemoryError:
        console.error(
            f"ctm: {HostError('this machine', 'its memory is used up', 'close other programs')}"
        )
        return HostError.exit_code
    except Exception as error:  # noqa: BLE001  # the last resort: no traceback reaches a user
        # Python 3.11 makes it a RuntimeError where it interrupts ``__set_name__``.
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        console.error(_defect(error))
        return HostError.exit_code


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options of one command line; ``run`` among them does the command.

    Raises:
        InputError: an option is unknown or its value is wrong.
    """
    # ``measure`` is set by the commands that predict.
    defaults = argparse.Namespace(store=None, quiet=False, json=False, measure=False)
    return program_parser().parse_args(arguments, defaults)


def program_parser() -> Parser:
    """Return the parser of the program; a command's options are added when it is chosen."""
    parser = Parser(
        prog="ctm",
        parents=[everywhere()],
        description="Predict how fast a neural network will run on hardware not on your desk.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"ctm {__version__}")
    add_commands(parser, "command", _COMMANDS)
    return parser


def _not_installed(error: ModuleNotFoundError) -> HostError:
    action = "install it again (pip install --force-reinstall closertome; in a checkout: delete "
    return HostError("this program", f"{error}", action + ".venv and start run.py)")


def _defect(error: Exception) -> str:
    """Return the message of an expected error: its traceback with CTM_DEBUG=1."""
    if os.environ.get("CTM_DEBUG") == "1":
        return "".join(traceback.format_exception(error))
    return (
        f"ctm: a defect of CloserToMe: {type(error).__name__}; run the command again with "
        "CTM_DEBUG=1 in the environment and report what it prints."
    )
