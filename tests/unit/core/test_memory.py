"""The C library's heaps, seen by its own report of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAPS = """
import ctypes, threading
from predictor.core.memory import keep_heap_small

library = ctypes.CDLL(None)
library.fdopen.restype = ctypes.c_void_p
{call}
arrived, enough = threading.Barrier(9), threading.Event()

def allocate():
    library.malloc(100)
    arrived.wait()
    enough.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
arrived.wait()
out = ctypes.c_void_p(library.fdopen(1, b"w"))
library.malloc_info(0, out)
library.fflush(out)
enough.set()
"""


def heaps(call: str) -> int:
    """Return how many heaps eight threads have that allocate at once."""
    command = [sys.executable, "-c", HEAPS.format(call=call)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.count(
        "<heap nr="
    )


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_threads_share_two_heaps() -> None:
    assert heaps("") >= 8
    assert heaps("keep_heap_small()") <= 2
