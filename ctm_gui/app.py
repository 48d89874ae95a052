"""The window's entry point: checks of the machine first, then the window."""

from __future__ import annotations

import argparse
import gc
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from ctm_gui.display import display_problem
from predictor import __version__
from predictor.core.errors import CtmError
from predictor.core.libraries import settle_libraries
from predictor.services.frozen import serve_if_child

EXIT_HOST = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and return the exit code once it is closed.

    Args:
        argv: arguments without the program's name; those of the process where None.

    Returns:
        0, or 3 where this machine cannot open a window; 2 where a shipped file is damaged.
        A frozen program that was started as one of its own children returns that one's.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    if argv is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until the event loop watches Ctrl+C it ends the process: KeyboardInterrupt within a call
        # of Qt's would end it by SIGSEGV, or be lost.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if getattr(sys, "frozen", False):
        # A frozen program has no interpreter beside it: it starts its children as itself.
        served = serve_if_child(arguments)
        if served is not None:
            return served
    options = _parser().parse_args(arguments)
    settle_libraries()
    problem = display_problem()
    if problem:
        print(f"ctm-gui: {problem}", file=sys.stderr)  # noqa: T201 - there is no window to say it
        return EXIT_HOST
    # Loading makes objects that stay; the application collects from the window's thread afterwards.
    gc.disable()
    try:
        # Qt loads here, after the check, because without its libraries it cannot even be imported.
        from ctm_gui.application import Application
    except ImportError as error:
        message = f"ctm-gui: a library is missing: {error}; install it and start again."
        print(message, file=sys.stderr)  # noqa: T201 - there is no window to say it
        return EXIT_HOST
    try:
        application = Application(options.store)
    except CtmError as error:
        print(f"ctm-gui: {error}", file=sys.stderr)  # noqa: T201 - there is no window to say it
        return error.exit_code
    return application.run(options.models)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ctm-gui", description="Predict how fast neural networks run on other hardware."
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", help="model files or folders")
    parser.add_argument("--store", type=Path, help="the store of predictions (or CTM_STORE)")
    parser.add_argument("--version", action="version", version=f"CloserToMe {__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
