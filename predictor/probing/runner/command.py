"""The command line of the runner."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .block import block_main
from .failures import StoppedError
from .messages import Controls, Lines
from .plan import PlanError, read_plan
from .process import ARCHIVE
from .results import Results
from .run import Run


class Text:
    """Writes the run's progress for a person; takes the messages that ``Lines`` takes."""

    def __init__(self, total: int) -> None:
        self._total = total

    def send(self, number: int, kind: str, payload: dict[str, Any]) -> None:
        """Print what a message means, where it means something to a person."""
        text = self._text(number, kind, payload)
        if text:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()

    def _text(self, number: int, kind: str, payload: dict[str, Any]) -> str:
        event, name = payload.get("event"), payload.get("name")
        if kind == "error":
            return f"{name}: not measured, {payload['reason']} ({payload['failure']})"
        if event == "measured":
            median = payload["median_ms"]
            latency = "its blocks differ" if median is None else f"{median:.4g} ms"
            return f"{number} of {self._total}  {name}: {latency}, {payload['verdict']}"
        if event == "drift" and len(payload["medians_ms"]) > 1:
            return f"The sentinel network drifts by {payload['drift'] * 100:.3g} %."
        return ""


def run_main(arguments: Sequence[str]) -> int:
    """Measure a plan; return 0, 2 for a wrong plan, 3 for a failing machine, 130 when stopped."""
    options = _options(arguments)
    path = Path(options.plan)
    try:
        plan, plan_sha256 = read_plan(path)
    except PlanError as error:
        return _refuse(options, 2, str(error))
    missing = [name for name in ("numpy", "onnxruntime") if not _is_installed(name)]
    if missing:
        return _refuse(options, 3, f"{' and '.join(missing)} is not installed for {sys.executable}")
    controls = Controls()
    if options.attached:
        threading.Thread(target=controls.listen, args=(sys.stdin.buffer,), daemon=True).start()
    lines = Lines(sys.stdout.buffer) if options.lines else Text(len(plan["networks"]))
    results = Results(plan, plan_sha256, Path(options.results) if options.results else None)
    results.resume()
    try:
        Run(plan, path.parent, lines, controls).measure(results)
    except (StoppedError, KeyboardInterrupt):
        return 130
    except OSError as error:
        return _refuse(options, 3, f"{error.strerror}: {error.filename or 'output'}")
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    here = ARCHIVE.parent
    parser = argparse.ArgumentParser(
        prog="ctm_runner.pyz", description="Measure a plan's networks."
    )
    parser.add_argument("--plan", default=str(here / "plan.json"), help="file of the plan")
    parser.add_argument("--results", help="file that the results are written to")
    parser.add_argument("--lines", action="store_true", help="print JSON lines")
    parser.add_argument(
        "--attached", action="store_true", help="obey, and end with, standard input"
    )
    options = parser.parse_args(list(arguments))
    if not options.results and not options.lines:
        options.results = str(here / "results.json")
    return options


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _refuse(options: argparse.Namespace, code: int, reason: str) -> int:
    with contextlib.suppress(OSError):  # nobody reads it any more
        if options.lines:
            payload = {"event": "run", "code": code, "reason": reason}
            Lines(sys.stdout.buffer).send(0, "error", payload)
        else:
            sys.stderr.write(f"ctm_runner: {reason}\n")
    return code


def main(arguments: Sequence[str]) -> int:
    """Run a plan, or one block of it."""
    if list(arguments[:1]) == ["block"]:
        return block_main(arguments[1:])
    return run_main(arguments[1:] if list(arguments[:1]) == ["run"] else arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
