"""Memory of this process, given back to the system."""

from __future__ import annotations

import sys
from typing import Final

_M_MMAP_THRESHOLD: Final = -3  # of malloc.h
_M_ARENA_MAX: Final = -8
_MMAP_BYTES: Final = 2**20
_ARENAS: Final = 2


def keep_heap_small() -> None:
    """Let large arrays lie outside the C library's heap, and threads share two heaps, from now on.

    glibc raises the size from which it does so to that of the largest array that was freed, up to
    32 MiB: after one large model such arrays lie between small objects, and their room stays taken.
    It gives each thread a heap of its own, up to eight for each processor: what one frees is no
    room for another.
    """
    _call("mallopt", _M_MMAP_THRESHOLD, _MMAP_BYTES)
    _call("mallopt", _M_ARENA_MAX, _ARENAS)


def release_memory() -> None:
    """Give back what is free, where the C library would keep it for later.

    glibc returns only what lies at the end of its heap: one small object there keeps the hundreds
    of megabytes below it that a large model took. Takes some 20 ms for them.
    """
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    """Call a function of glibc; other C libraries have none of this name."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - short commands do not wait for it

        function = getattr(ctypes.CDLL(None), name, None)
        if function is not None:
            function(*arguments)
