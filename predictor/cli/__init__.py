"""The ``ctm`` command: the engine without a window, for scripts and CI."""

# ruff: noqa: PLC0415  # Ctrl+C during an import is answered too

from __future__ import annotations


def main() -> int:
    """Run the command line of this process and return its exit code, 130 after Ctrl+C."""
    try:
        from predictor.core.interrupts import ignore_interrupts, raise_interrupts

        raise_interrupts()
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
