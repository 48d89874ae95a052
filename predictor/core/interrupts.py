"""Ctrl+C of a program: an exception at any time of its work, nothing once the work is done."""

from __future__ import annotations

import _thread
import signal
import sys
import time
from types import FrameType

_AGAIN_S = 0.005  # until the interpreter is past what must not be broken off
_IMPORT_LOCKS = "<frozen importlib._bootstrap>"


class Interrupted(KeyboardInterrupt):
    """Ctrl+C.

    Python notes when KeyboardInterrupt itself, not a subclass, leaves an ``exec``, as it does while
    a dataclass is made: ``python -m`` then ends by the signal, even where it was caught since.
    """


def raise_interrupts() -> None:
    """Raise Interrupted in the main thread at Ctrl+C, unless the parent process ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        sys.unraisablehook = _on_unraisable
        signal.signal(signal.SIGINT, _interrupt)


def ignore_interrupts() -> None:
    """Let Ctrl+C pass from here on.

    The interpreter's end would give the signal its default action back: no exit code, no sentence.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt(_: int, frame: FrameType | None) -> None:
    # Broken off between a lock and its ``try``, an import would keep the lock: threads would hang.
    if frame is not None and frame.f_code.co_filename == _IMPORT_LOCKS:
        _thread.start_new_thread(_interrupt_again, (_thread.get_ident(),))
    else:
        raise Interrupted


def _on_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    # A destructor or another callback swallowed it.
    if isinstance(unraisable.exc_value, Interrupted):
        _thread.start_new_thread(_interrupt_again, (_thread.get_ident(),))
    else:
        sys.__unraisablehook__(unraisable)


def _interrupt_again(thread: int) -> None:
    time.sleep(_AGAIN_S)
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:
        signal.pthread_kill(thread, signal.SIGINT)  # it ends a system call too
