"""The ingestion worker: a child process that reads model files, so that nothing else has to.

It is warm (onnx is imported before the first request), limits its own memory, and answers requests
in JSON lines, one at a time:

    in   {"id", "path", "bindings", "batch", "shapes"}
    out  {"id", "kind", "payload"}, kind one of progress, result, error; id 0 before any request

Whatever a library prints goes to the standard error: file descriptor 1 is taken for answers alone.
A defect of ours ends the process with a traceback there; the parent reports it and starts another.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, BinaryIO

from predictor.core.errors import CtmError, InputError
from predictor.core.memory import release_memory

_LARGE_S = 0.3  # a model that takes so long leaves more memory than a worker needs
_GRACE_S = 5  # the parent's own time limit comes first


class Answers:
    """Where answers go: a private copy of the standard output."""

    def __init__(self) -> None:
        self._file: BinaryIO = os.fdopen(os.dup(1), "wb")
        # By descriptor: replacing sys.stdout would not catch what native code prints.
        os.dup2(2, 1)

    def send(self, request: int, kind: str, payload: dict[str, Any]) -> None:
        """Write one answer as one line."""
        line = json.dumps({"id": request, "kind": kind, "payload": payload}, separators=(",", ":"))
        # json.dumps escapes all else, lone surrogates of file names too.
        self._file.write(line.encode("ascii") + b"\n")
        self._file.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer requests until the standard input ends.

    Args:
        arguments: the address space in bytes and the seconds for one file that are allowed; from
            the command line if None.
    """
    memory_bytes, seconds = map(int, sys.argv[-2:] if arguments is None else arguments)
    answers = Answers()
    limit_memory(memory_bytes)
    # Libraries stay until the end: the collector need not look at them, now or with each file.
    gc.disable()
    import onnx.shape_inference  # noqa: F401, PLC0415  # warm: the first file does not wait for it

    import predictor.formats.opening  # noqa: F401, PLC0415

    gc.freeze()
    gc.enable()
    answers.send(0, "progress", {"message": "ready"})
    for line in sys.stdin.buffer:
        set_alarm(seconds + _GRACE_S)
        started = time.monotonic()
        # A model in the making has hardly a cycle, and looking for one takes a tenth of the time.
        gc.disable()
        _answer(answers, json.loads(line), memory_bytes)
        gc.enable()
        set_alarm(0)
        if time.monotonic() - started > _LARGE_S:
            release_memory()
    return 0


def _answer(answers: Answers, request: dict[str, Any], memory_bytes: int) -> None:
    """Answer one request with a result or an error."""
    from predictor.formats.opening import open_model  # noqa: PLC0415  # imports onnx: after the limit

    number, path = request["id"], request["path"]
    try:
        shapes = {name: tuple(dims) for name, dims in request["shapes"].items()}
        model = open_model(path, request["bindings"], request["batch"], shapes)
        answers.send(number, "result", model.to_payload())
    except CtmError as error:
        answers.send(number, "error", error.to_dict())
    except MemoryError:
        answers.send(number, "error", out_of_memory(path, memory_bytes).to_dict())


def out_of_memory(path: str, limit_bytes: int) -> InputError:
    """Return the error of a file that needs more memory than a worker may have."""
    return InputError(
        path,
        f"reading it takes more than the {limit_bytes / 2**30:.3g} GiB of memory that it may take",
        "check that the file is sound, or give a smaller model",
    )


def limit_memory(limit_bytes: int) -> None:
    """Limit this process's address space, where the system can; elsewhere the parent watches."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415  # not on every system

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        allowed = limit_bytes if hard == resource.RLIM_INFINITY else min(limit_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))


def set_alarm(seconds: int) -> None:
    """End this process after ``seconds``, even in a library's loop; 0 takes that back.

    It matters only when the parent has died; the default action of SIGALRM ends the process.
    """
    if sys.platform != "win32":
        import signal  # noqa: PLC0415

        signal.alarm(seconds)


if __name__ == "__main__":
    sys.exit(main())
