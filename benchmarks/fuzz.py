"""Damaged files of every kind, fed to what reads them: nothing may fall.

A file is read or refused in one sentence. It falls where reading it ends in another exception, ends
the process, takes over ``SECONDS`` or over ``MEMORY_MIB`` more than the process had. The files come
from a seed: ``--seed`` of the page with the number of a file gives it again. Each kind of file is a
row of ``KINDS``; a run of one kind keeps the others' rows on the page.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import NamedTuple

from benchmarks.common import Table, publish
from tests.fuzz import documents, formats, onnx_mutator

SECONDS, MEMORY_MIB = 20.0, 400.0
_STARTING_S = 60.0
_HEADER = ("kind", "tried", "read", "refused", "fallen", "slowest s", "most memory MiB", "seed")


class Kind(NamedTuple):
    """One kind of file.

    Attributes:
        mutate: a damaged file from a generator of random numbers.
        feed: reads it; True where it was read, False where it was refused in one sentence.
    """

    mutate: Callable[[random.Random], bytes]
    feed: Callable[[bytes], bool]


KINDS: dict[str, Kind] = {
    "onnx": Kind(onnx_mutator.mutate, onnx_mutator.feed),
    "formats": Kind(formats.mutate, formats.feed),
    "imports": Kind(documents.mutate_import, documents.feed_import),
    "devices": Kind(documents.mutate_device, documents.feed_device),
    "projects": Kind(documents.mutate_project, documents.feed_project),
    "results": Kind(documents.mutate_results, documents.feed_results),
}


@dataclass
class Tally:
    """Result of one kind: numbers of files, and the reasons of those that fell by their number."""

    kind: str
    seed: int
    tried: int = 0
    read: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    memory_mib: float = 0.0
    fallen: dict[str, str] = field(default_factory=dict)

    def add(self, number: int, answer: dict[str, object]) -> None:
        """Count one file."""
        self.tried += 1
        fault = str(answer.get("fault", ""))
        self.slowest_s = max(self.slowest_s, float(str(answer.get("seconds", 0))))
        self.memory_mib = max(self.memory_mib, float(str(answer.get("memory_mib", 0))))
        if fault:
            self.fallen[str(number)] = fault
        elif answer["read"]:
            self.read += 1
        else:
            self.refused += 1

    def cells(self) -> list[str]:
        """Return the row of the page."""
        counts = (self.tried, self.read, self.refused, len(self.fallen))
        times = (f"{self.slowest_s:.2f}", f"{self.memory_mib:.0f}")
        return [self.kind, *map(str, counts), *times, str(self.seed)]


def file_of(kind: str, seed: int, number: int) -> bytes:
    """Return file ``number`` of a run."""
    return KINDS[kind].mutate(random.Random(f"{kind} {seed} {number}"))  # noqa: S311 - no secret


def serve(kind: str, seed: int, first: int) -> None:
    """Feed file after file from ``first`` on, an answer in JSON on a line for each."""
    warnings.simplefilter("error")
    KINDS[kind].feed(file_of(kind, seed, first))  # imports and caches count for no file
    start_mib = _peak_mib()
    number = first
    while True:
        data = file_of(kind, seed, number)
        start = time.perf_counter()
        answer: dict[str, object] = {}
        try:
            answer["read"] = KINDS[kind].feed(data)
        except Exception as error:  # noqa: BLE001  # it is what we look for
            answer["fault"] = f"{type(error).__name__}: {error}"[:300]
        answer["seconds"] = time.perf_counter() - start
        answer["memory_mib"] = memory = _peak_mib() - start_mib
        if memory > MEMORY_MIB:
            answer["fault"] = f"took {memory:.0f} MiB"
        print(json.dumps(answer), flush=True)
        number += 1


def _peak_mib() -> float:
    """Return the most memory that this process had; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0.0
    import resource  # noqa: PLC0415  # not on every system

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def answers(kind: str, seed: int, end: float) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the numbers of files and the answers to them until ``end`` (monotonic).

    Another child goes on with the next file where one ends or takes too long.
    """
    number = 0
    while time.monotonic() < end:
        command = [sys.executable, "-m", "benchmarks.fuzz", "--kind", kind, "--seed", str(seed)]
        command += ["--serve", str(number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            try:
                for answer in _lines(child, end):
                    yield number, answer
                    number += 1
                    if "took" in str(answer.get("fault")):
                        break  # the most memory of a process never falls
            finally:
                child.kill()


def _lines(child: subprocess.Popen[str], end: float) -> Iterator[dict[str, object]]:
    """Yield a child's answers; the last one is a fault where it ended or hangs."""
    lines: Queue[str | None] = Queue()

    def read() -> None:
        with suppress(ValueError):  # the pipe is closed where the time is over
            for line in child.stdout or ():
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    limit = _STARTING_S + SECONDS
    while time.monotonic() < end:
        try:
            line = lines.get(timeout=limit)
        except Empty:
            yield {"fault": f"took over {SECONDS:.0f} seconds", "seconds": SECONDS}
            return
        if line is None:
            yield {"fault": f"the process ended with code {child.wait()}"}
            return
        yield json.loads(line)
        limit = SECONDS


def main() -> int:
    """Feed files of the kinds asked for and write the page; return 1 where one fell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="for each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, action="append", help="all without it")
    parser.add_argument("--output", type=Path, help="folder of the page")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    kinds = options.kind or list(KINDS)
    if options.serve is not None:
        serve(kinds[0], options.seed, options.serve)
    tallies = _earlier(options.output)
    for kind in kinds:
        tally = tallies[kind] = Tally(kind, options.seed)
        for number, answer in answers(kind, options.seed, time.monotonic() + 60 * options.minutes):
            tally.add(number, answer)
    ordered = [tallies[kind] for kind in sorted(tallies)]
    notes = [
        f"- {tally.kind}, file {number}: {fault}"
        for tally in ordered
        for number, fault in tally.fallen.items()
    ]
    publish(
        "fuzz",
        "Damaged files: tried and fallen",
        Table(_HEADER, [tally.cells() for tally in ordered]),
        [asdict(tally) for tally in ordered],
        options.output,
        notes or ["No file fell."],
    )
    return int(any(tallies[kind].fallen for kind in kinds))


def _earlier(output: Path | None) -> dict[str, Tally]:
    """Return the tallies of the page as it is."""
    path = (output or Path()) / "fuzz.json"
    if output is None or not path.exists():
        return {}
    figures = json.loads(path.read_text(encoding="utf-8"))["figures"]
    return {figure["kind"]: Tally(**figure) for figure in figures}


if __name__ == "__main__":
    sys.exit(main())
