"""Damaged files of every kind, killed writers and hostile boards: nothing may fall or be lost.

A try is one file that is fed to what reads it, one kill of a process that writes a store
(``kills``) or one run on a board that answers wrongly (``boards``). What is tried ends as it should
or is refused in one sentence. It falls where it ends in another exception, ends the process, loses
a row that was committed, takes over ``SECONDS`` of a processor, waits ten times as long, or takes
over ``MEMORY_MIB`` more than the process had.

Each try follows from a seed and its number. ``--kept DIR`` holds what was tried: a run that is
ended or that has no more minutes goes on there, after another try of what fell, and the page is of
all runs. Each kind is a row of ``KINDS``.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from queue import Empty, Queue
from typing import NamedTuple

import psutil

from benchmarks.common import Table, add_kept, kept_folder, publish
from predictor.core.files import replaced
from tests.fuzz import boards, documents, formats, kills, language, onnx_mutator, tables

SECONDS, MEMORY_MIB = 20.0, 400.0
_STARTING_S = 60.0
_PIECE = 500  # tries of a kind, before those of the next
_SAVED_S = 10.0
_WAITS = 10
_HEADER = (
    *("kind", "tried", "goal", "read", "refused", "fallen"),
    *("slowest CPU s", "most memory MiB", "seed"),
)


class Kind(NamedTuple):
    """One kind of try.

    Attributes:
        mutate: a damaged file from a generator of random numbers.
        feed: reads it; True where it was read, False where it was refused in one sentence.
        goal: number of tries.
    """

    mutate: Callable[[random.Random], bytes]
    feed: Callable[[bytes], bool]
    goal: int = 10_000


KINDS: dict[str, Kind] = {
    "onnx": Kind(onnx_mutator.mutate, onnx_mutator.feed),
    **{
        f"*.{ending}": Kind(partial(formats.mutate, ending=ending), formats.feed)
        for ending in formats.ENDINGS
    },
    "*.gguf": Kind(language.mutate_gguf, language.feed_gguf),
    "config.json": Kind(language.mutate_config, language.feed_config),
    "imports": Kind(documents.mutate_import, documents.feed_import),
    "kits": Kind(documents.mutate_results, documents.feed_results),
    "devices": Kind(documents.mutate_device, documents.feed_device),
    "projects": Kind(documents.mutate_project, documents.feed_project),
    "toml": Kind(tables.mutate, tables.feed),
    "kills": Kind(kills.mutate, kills.feed, 500),
    "boards": Kind(boards.mutate, boards.feed, 500),
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
        goal = KINDS[self.kind].goal
        counts = (self.tried, goal, self.read, self.refused, len(self.fallen))
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
        start = time.process_time()
        answer: dict[str, object] = {}
        try:
            answer["read"] = KINDS[kind].feed(data)
        except Exception as error:  # noqa: BLE001  # it is what we look for
            answer["fault"] = f"{type(error).__name__}: {error}"[:300]
        answer["seconds"] = time.process_time() - start
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


def answers(
    kind: str, seed: int, number: int, end: float
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the numbers of tries from ``number`` on and their answers until ``end`` (monotonic).

    Another child goes on with the next one where one ends or takes too long.
    """
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
    used_s, begin_s = 0.0, time.monotonic()
    while time.monotonic() < end:
        try:
            line = lines.get(timeout=min(limit, max(end - time.monotonic(), 0.1)))
        except Empty:
            # On a busy machine a child may have had no processor.
            if _cpu_s(child) - used_s < limit and time.monotonic() - begin_s < _WAITS * limit:
                continue
            yield {"fault": f"took over {SECONDS:.0f} seconds", "seconds": SECONDS}
            return
        if line is None:
            yield {"fault": f"the process ended with code {child.wait()}"}
            return
        yield json.loads(line)
        limit = SECONDS
        used_s, begin_s = _cpu_s(child), time.monotonic()


def _cpu_s(child: subprocess.Popen[str]) -> float:
    """Return the CPU time of a child that runs."""
    try:
        return sum(psutil.Process(child.pid).cpu_times()[:2])
    except psutil.Error:
        return 0.0


def main() -> int:
    """Try the kinds that are named and write the page; return 1 where anything fell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of this run, for all kinds")
    parser.add_argument("--tries", type=int, default=10**9, help="of a kind, if under its goal")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, action="append", help="all without it")
    parser.add_argument("--output", type=Path, help="folder of the page")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    add_kept(parser)
    options = parser.parse_args()
    names = options.kind or list(KINDS)
    if options.serve is not None:
        serve(names[0], options.seed, options.serve)
    with kept_folder(options) as folder:
        _go_on(folder, names, options, time.monotonic() + 60 * options.minutes)
        tallies = [tally for name in KINDS if (tally := _load(folder, name, options.seed)).tried]
    notes = [
        f"- {tally.kind}, number {number}: {fault}"
        for tally in tallies
        for number, fault in tally.fallen.items()
    ]
    publish(
        "fuzz",
        "Damaged files, killed writers and hostile boards",
        Table(_HEADER, [tally.cells() for tally in tallies]),
        [asdict(tally) for tally in tallies],
        options.output,
        notes or ["Nothing fell."],
    )
    return int(any(tally.fallen for tally in tallies))


def _go_on(folder: Path, names: Sequence[str], options: argparse.Namespace, end: float) -> None:
    """Try the kinds in turns, a piece each, until all have enough or the time is over."""
    for name in names:
        _try_again(folder, _load(folder, name, options.seed), end)
    left = list(names)
    while left and time.monotonic() < end:
        for name in tuple(left):
            tally = _load(folder, name, options.seed)
            count = min(_PIECE, min(KINDS[name].goal, options.tries) - tally.tried)
            if count <= 0:
                left.remove(name)
                continue
            saved_s = time.monotonic()
            for number, answer in islice(answers(name, options.seed, tally.tried, end), count):
                tally.add(number, answer)
                if time.monotonic() - saved_s > _SAVED_S:
                    _save(folder, tally)
                    saved_s = time.monotonic()
            _save(folder, tally)


def _try_again(folder: Path, tally: Tally, end: float) -> None:
    """Try what fell before: it may be mended."""
    for number in map(int, list(tally.fallen)):
        for _, answer in islice(answers(tally.kind, tally.seed, number, end), 1):
            del tally.fallen[str(number)]
            tally.tried -= 1
            tally.add(number, answer)
            _save(folder, tally)


def _place(folder: Path, kind: str, seed: int) -> Path:
    return folder / f"{kind.removeprefix('*.')}-{seed}.json"


def _load(folder: Path, kind: str, seed: int) -> Tally:
    """Return what was tried of a kind."""
    path = _place(folder, kind, seed)
    if not path.exists():
        return Tally(kind, seed)
    return Tally(**json.loads(path.read_text(encoding="utf-8")))


def _save(folder: Path, tally: Tally) -> None:
    with replaced(_place(folder, tally.kind, tally.seed)) as partial_file:
        partial_file.write_text(json.dumps(asdict(tally)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
