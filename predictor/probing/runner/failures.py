"""Why a network cannot be measured."""

from __future__ import annotations

import re


class MeasuringError(Exception):
    """A network cannot be measured; ``code`` is one of the failures of docs/probing.md."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class StoppedError(Exception):
    """A command stopped the run."""


_PREFIX = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")
_FAILURE_WORDS = (
    ("fall-back", ("fallback to cpu ep has been explicitly disabled",)),
    ("out-of-memory", ("failed to allocate", "bad_alloc", "bad allocation", "out of memory")),
    (
        "missing-operator",
        ("not_implemented", "could not find an implementation", "no op registered",
         "is not a registered function/op", "no schema registered"),
    ),
)  # fmt: skip


def failure_of(error: Exception) -> MeasuringError:
    """Return what an error of onnxruntime means; it says so in words only."""
    text = " ".join(str(error).split())[:300] or type(error).__name__
    words = _PREFIX.sub("", text)
    if isinstance(error, MemoryError):
        return MeasuringError("out-of-memory", "the network needs more memory than there is")
    if isinstance(error, ImportError):
        return MeasuringError("no-runtime", text)
    for code, signs in _FAILURE_WORDS:
        if any(sign in text.lower() for sign in signs):
            return MeasuringError(code, words)
    return MeasuringError("bad-network", words)
