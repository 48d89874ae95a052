"""The program ``ctm``: from a command line to an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable

from predictor.cli.console import Console
from predictor.cli.options import parse
from predictor.core.errors import CtmError, HostError
from predictor.core.libraries import settle_libraries

EXIT_DONE = 0
EXIT_BUDGET_MISSED = 1
EXIT_INPUT = 2
EXIT_HOST = 3
EXIT_CANCELLED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the command line without the program's name; None means ``sys.argv``.

    Returns:
        0 done, 1 budget missed, 2 the input is wrong, 3 the host failed, 130 cancelled.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if getattr(sys, "frozen", False):
        from predictor.services.frozen import serve_if_child  # noqa: PLC0415

        served = serve_if_child(given)
        if served is not None:
            return served
    settle_libraries()
    console = Console()
    try:
        options = parse(given)
        console.quiet = options.quiet
        return _run(options, console)
    except CtmError as error:
        console.error(f"ctm: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        console.error("ctm: cancelled.")
        return EXIT_CANCELLED
    except MemoryError:
        console.error(
            f"ctm: {HostError('this machine', 'its memory is used up', 'close other programs')}"
        )
        return EXIT_HOST
    except Exception as error:  # noqa: BLE001  # the last resort: no traceback reaches a user
        console.error(_defect(error))
        return EXIT_HOST


def _run(options: argparse.Namespace, console: Console) -> int:
    # Each command imports what it needs itself: the other commands would wait for it.
    command: Callable[[argparse.Namespace, Console], int]
    match options.command:
        case "predict":
            command = _predict
        case "compare":
            command = _compare
        case "report":
            command = _report
        case "inspect":
            command = _inspect
        case "devices":
            from predictor.cli.devices_command import run as run_devices  # noqa: PLC0415

            command = run_devices
        case "evaluate":
            from predictor.cli.evaluate_command import run as run_evaluate  # noqa: PLC0415

            command = run_evaluate
        case "train":
            from predictor.cli.train_command import run as run_train  # noqa: PLC0415

            command = run_train
        case "probe":
            from predictor.cli.probe_command import run as run_probe  # noqa: PLC0415

            command = run_probe
        case _:
            from predictor.cli.store_command import run as run_store  # noqa: PLC0415

            command = run_store
    return command(options, console)


def _predict(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.reading import reading_found  # noqa: PLC0415

    with reading_found(options.models, options) as models:
        from predictor.cli.predict_command import run  # noqa: PLC0415  # while the worker starts

        return run(options, console, models)


def _report(options: argparse.Namespace, console: Console) -> int:
    from pathlib import Path  # noqa: PLC0415

    from predictor.cli.reading import reading_found  # noqa: PLC0415
    from predictor.services.report.files import check_report_path  # noqa: PLC0415

    check_report_path(Path(options.output))
    with reading_found(options.models, options) as models:
        from predictor.cli.report_command import run  # noqa: PLC0415  # while the worker starts

        return run(options, console, models)


def _compare(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.reading import reading_found  # noqa: PLC0415

    with reading_found(options.models, options) as models:
        from predictor.cli.compare_command import run  # noqa: PLC0415  # while the worker starts

        return run(options, console, models)


def _inspect(options: argparse.Namespace, console: Console) -> int:
    from predictor.cli.reading import reading  # noqa: PLC0415

    with reading([options.model], options) as models:
        from predictor.cli.inspect_command import run  # noqa: PLC0415  # while the worker starts

        return run(options, console, models[0])


def _defect(error: Exception) -> str:
    """Say that we are at fault, with the traceback for those who asked for it."""
    if os.environ.get("CTM_DEBUG") == "1":
        return "".join(traceback.format_exception(error))
    return (
        f"ctm: a defect of CloserToMe: {type(error).__name__}; run the command again with "
        "CTM_DEBUG=1 in the environment and report what it prints."
    )
