"""The process that times one block of a row, in the bridge's environment: the runner's block."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

from ctm_research.bridge.runtimes import adapter
from ctm_research.bridge.runtimes.job import Job
from predictor.probing.runner.block import block_main
from predictor.probing.runner.failures import failure_of


class _Session:
    """An adapter's session in the form of onnxruntime's."""

    def __init__(self, session: Any) -> None:
        self._run = session.run

    def run(self, outputs: None, feeds: None) -> object:
        """Run once; inputs were prepared by the adapter."""
        del outputs, feeds
        return self._run()


def _open_session(job: dict[str, Any]) -> tuple[Any, None]:
    return _Session(adapter(job["runtime"]).Session(Job.of(job))), None


def _profiled_pass(
    job: dict[str, Any], tell: Callable[[str], None], clock_ns: Callable[[], int]
) -> dict[str, Any]:
    del clock_ns
    tell("profiling")
    try:
        return {"operators": adapter(job["runtime"]).operators(Job.of(job))}
    except Exception as error:  # noqa: BLE001  # the runtimes' errors have no common base
        return {"operators_missing": failure_of(error).reason}


def main() -> NoReturn:
    """Measure the block of the job on standard input."""
    # Not sys.exit: a thread that waits for standard input makes the interpreter's end an abort.
    os._exit(block_main([], _open_session, _profiled_pass))
