"""Gain of `ctm predict --rows` from a second worker of a local cluster, and from `--jobs 2`.

Runs with one and with two take turns, start to exit; the gain is that of the shortest. Where
workers, scheduler and command share processors it is not of the code alone: beside it stand what
two processes gain here that share nothing, and the CPU time that each side takes a file, which
other programs change little. From those times follows how a cluster grows whose sides have a
processor each: workers share the files, while scheduler and command pass all of them. Needs the
extras ``cluster`` and ``parquet``.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.common import Figure, Table, add_arguments, report
from predictor.cli.predict.row_files import Finished, writing
from predictor.core.units import significant
from predictor.services.prediction.engines import CLOSERTOME
from predictor.services.rows.text import RowForm
from tests.e2e.clusters import TlsCluster

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "resources" / "samples" / "mobilenetv2-1.0-224.onnx"
FEW = 6  # files by which a new worker loads what it needs; their time is that of the start


WORKERS = (1, 2, 4, 8, 16, 32, 64)
_OTHERS = " Where that is over 2, other programs took part: gains are then not of the code alone."
_ASSUMED = (
    "Not measured: it takes each side to have a processor to itself, the network to be no limit, "
    "and all files to be as this one."
)


_REFERENCE = (
    "from tests.support.heartbeat import reference_work\nfor _ in range(1000): reference_work()"
)


class Run(NamedTuple):
    """Wall time of a command, and CPU time a file of it, its scheduler and its workers, in s.

    ``start_s`` is the wall time with few files; ``few_mib`` and ``all_mib`` are the most memory of
    the command with few files and with all.
    """

    wall_s: float
    start_s: float
    few_mib: float
    all_mib: float
    command_s: float
    scheduler_s: float = 0.0
    worker_s: float = 0.0


def main() -> int:
    """Take all figures in turns and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=3)
    parser.add_argument("--files", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models, few = _copies(folder / "models", options.files), _copies(folder / "few", FEW)
        runs = _runs(TlsCluster(folder), models, few, options.repeats)
        parquet_s = _parquet_s(models.with_suffix(".jsonl")) / options.files
        machine = _machine_gain(options.repeats)
    one, two, alone, beside = map(_least, zip(*runs, strict=True))
    what = f"{options.files} files, all devices"
    figures = [
        Figure(f"{what}, one worker", one.wall_s, "s"),
        Figure("the same, two workers", two.wall_s, "s"),
        Figure("gain of the second worker", one.wall_s / two.wall_s, ""),
        Figure("the same without the start, by its time with few files", _gain(one, two), ""),
        Figure("gain of a second process that shares nothing", machine, ""),
        Figure("CPU time of the worker a file", one.worker_s * 1e3, "ms"),
        Figure("CPU time of the command a file", one.command_s * 1e3, "ms"),
        Figure("CPU time of the scheduler a file", one.scheduler_s * 1e3, "ms"),
        Figure("CPU time at the end of a Parquet file, a file", parquet_s * 1e3, "ms"),
        Figure("workers until the command is the limit", one.worker_s / one.command_s, ""),
        Figure("workers until the scheduler is the limit", one.worker_s / one.scheduler_s, ""),
        Figure(f"most memory of the command, {FEW} files", one.few_mib, "MiB"),
        Figure(f"the same, {options.files} files", one.all_mib, "MiB"),
        Figure(f"{what}, no cluster", alone.wall_s, "s"),
        Figure("the same, --jobs 2", beside.wall_s, "s"),
        Figure("gain of --jobs 2", alone.wall_s / beside.wall_s, ""),
        Figure("the same without the start, by its time with few files", _gain(alone, beside), ""),
    ]
    notes = [
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the end.{_OTHERS}",
        "## A cluster by these times",
        _ASSUMED,
        Table(("workers", "files/s", "limit"), _growth(one)).as_markdown(),
        "Rows come as JSON lines; a Parquet file is made of them once the last one is there.",
    ]
    title = "Workers of a cluster, and processes"
    return report("cluster_speed", title, figures, options.output, notes, CLOSERTOME)


def _runs(
    cluster: TlsCluster, models: Path, few: Path, repeats: int
) -> list[tuple[Run, Run, Run, Run]]:
    """Return, a turn each: one worker, two workers, no cluster, no cluster with two jobs."""
    turns = []
    on_cluster = cluster.options()
    try:
        workers = [cluster.worker()]
        _predict(few, on_cluster)
        for _ in range(repeats):
            one = _run(models, few, on_cluster, cluster, workers)
            second = cluster.worker()
            _predict(few, on_cluster)
            two = _run(models, few, on_cluster, cluster, [*workers, second])
            second.terminate()
            second.wait()
            turns.append((one, two, _run(models, few), _run(models, few, ["--jobs", "2"])))
    finally:
        cluster.stop()
    return turns


def _run(
    models: Path,
    few: Path,
    options: Sequence[str] = (),
    cluster: TlsCluster | None = None,
    workers: Sequence[subprocess.Popen[bytes]] = (),
) -> Run:
    """Predict a few files, then all: the difference is without the start of the command."""
    scheduler = [] if cluster is None else [cluster.scheduler]

    def used() -> tuple[float, float, float]:
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        return own.ru_utime + own.ru_stime, _cpu_s(scheduler), _cpu_s(workers)

    def seconds(folder: Path) -> tuple[float, ...]:
        begin, before = time.perf_counter(), used()
        most_mib = _predict(folder, options)
        wall = time.perf_counter() - begin
        return wall, most_mib, *(after - s for after, s in zip(used(), before, strict=True))

    start_s, few_mib, *start = seconds(few)
    wall, all_mib, *whole = seconds(models)
    files = len(list(models.iterdir())) - FEW
    each = ((all_s - few_s) / files for all_s, few_s in zip(whole, start, strict=True))
    return Run(wall, start_s, few_mib, all_mib, *each)


def _gain(one: Run, two: Run) -> float:
    return (one.wall_s - one.start_s) / (two.wall_s - two.start_s)


def _machine_gain(repeats: int) -> float:
    """Return how much more two processes of reference work do than one in the same time."""
    seconds = {1: math.inf, 2: math.inf}
    for count in (1, 2) * repeats:
        begin = time.perf_counter()
        processes = [
            subprocess.Popen([sys.executable, "-c", _REFERENCE], cwd=ROOT) for _ in range(count)
        ]
        for process in processes:
            process.wait()
        seconds[count] = min(seconds[count], time.perf_counter() - begin)
    return 2 * seconds[1] / seconds[2]


def _growth(run: Run) -> list[list[str]]:
    """Return the files per second with so many workers, and which side is the limit."""
    rows = []
    for count in WORKERS:
        sides = {"workers": run.worker_s / count, "command": run.command_s}
        sides["scheduler"] = run.scheduler_s
        slowest = max(sides, key=lambda side: sides[side])
        rows.append([str(count), significant(1 / sides[slowest]), slowest])
    return rows


def _parquet_s(rows: Path) -> float:
    """Return the CPU time of a Parquet file of rows that are written at once."""
    text, path = rows.read_bytes(), rows.with_suffix(".parquet")
    begin = time.process_time()
    with writing(path, RowForm.JSON_LINES, Finished()) as write:
        write(text)
    return time.process_time() - begin


def _least(runs: Sequence[Run]) -> Run:
    """Return the least of each time: other programs add to all of them."""
    return Run(*map(min, zip(*runs, strict=True)))


def _cpu_s(processes: Sequence[subprocess.Popen[bytes]]) -> float:
    """Return the CPU time of processes and their children."""
    every = [psutil.Process(each.pid) for each in processes]
    every += [child for each in every for child in each.children(recursive=True)]
    return sum(sum(each.cpu_times()[:2]) for each in every)


def _copies(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        shutil.copy(MODEL, folder / f"m{number}.onnx")
    return folder


def _predict(models: Path, options: Sequence[str]) -> float:
    """Write the rows of a folder, and return the most memory of the command in MiB."""
    rows = models.with_suffix(".jsonl")
    command = [sys.executable, "-m", "predictor.cli", "--quiet", "predict", str(models), "--all"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CTM_STORE": str(rows.with_suffix(".db"))}
    process = subprocess.Popen([*command, "--rows", str(rows), *options], env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return usage.ru_maxrss / 2**10


if __name__ == "__main__":
    sys.exit(main())
