"""Writes the shipped file of published latencies.

``python -m ctm_research.published --data DIR --out resources/measured/published.npz``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ctm_research.published.collect import PUBLISHERS, Collected, collect, write_published
from predictor.calibration.published import published_path
from predictor.core.errors import CtmError
from predictor.core.progress import Progress
from predictor.devices.catalogue import load_device_files


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file and print its counts; the exit code is that of the error if any."""
    parser = argparse.ArgumentParser(
        prog="python -m ctm_research.published",
        description="Collect the published latencies of whole networks into one small file.",
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    parser.add_argument("--out", type=Path, default=published_path(), help="file to write")
    parser.add_argument("--sources", nargs="+", default=list(PUBLISHERS), choices=PUBLISHERS)
    options = parser.parse_args(arguments)
    try:
        devices = {entry.device.id: entry.device for entry in load_device_files()}
        collected = collect(options.data, devices, options.sources, _show)
        write_published(options.out, collected.published)
    except CtmError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(_counts(collected, options.sources))
    return 0


def _show(progress: Progress) -> None:
    """Rewrite one line, only where a person sees it."""
    if sys.stderr.isatty():
        line = f"{progress.done}/{progress.total} {progress.message}"
        sys.stderr.write(f"\r{line:78.78}")


def _counts(collected: Collected, names: Sequence[str]) -> str:
    lines = ["| source | latencies that ship | left out |", "| --- | --- | --- |"]
    for name in names:
        reasons = "; ".join(
            f"{count}: {why}" for why, count in collected.left_out.get(name, {}).items()
        )
        lines.append(f"| {name} | {collected.counts[name]} | {reasons} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
