"""The ``ctm`` command: the engine without a window, for scripts and CI."""

# ruff: noqa: PLC0415  # Ctrl+C during an import is answered too

from __future__ import annotations

import gc
import sys

_MANY_OBJECTS = 200_000  # made and not yet gone; of a long run the collector looks after them


def main() -> int:
    """Run the command line of this process and return its exit code, 130 after Ctrl+C."""
    try:
        from predictor.core.interrupts import ignore_interrupts, raise_interrupts

        raise_interrupts()
        # Nearly all that a command makes stays until its end: to look for what does not takes as
        # long as a twentieth of the command.
        gc.set_threshold(_MANY_OBJECTS)
        from predictor.cli.ahead import reader_ahead

        with reader_ahead(sys.argv[1:]):
            from predictor.cli import program

            code = program.main()
        ignore_interrupts()
    except KeyboardInterrupt:
        from predictor.cli.console import Console
        from predictor.core.errors import CancelledError
        from predictor.core.interrupts import ignore_interrupts

        ignore_interrupts()
        Console().error("ctm: cancelled.")
        return CancelledError.exit_code
    return code
