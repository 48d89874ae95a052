"""The timed run: each row in two blocks in two fresh processes, by the runner's protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ctm_research.bridge.environment import command
from ctm_research.bridge.prepare import form_folder, job_of, reason_file
from ctm_research.bridge.rows import SENTINEL, Row
from ctm_research.bridge.table import Table
from predictor.core.errors import HostError
from predictor.probing.runner.failures import MeasuringError
from predictor.probing.runner.machine import Accounting, host_facts, usable_processors
from predictor.probing.runner.medians import difference, percentile, summary
from predictor.probing.runner.messages import Controls
from predictor.probing.runner.process import Block
from predictor.probing.runner.settings import CPU_PROVIDER, Settings

BUSY_CORES = 0.15
"""Work of others, in cores, above which nothing is timed."""
SENTINEL_EVERY = 60
_WATCH_S = 2.0
_MOST_KINDS = 12


def protocol(seconds: float) -> Settings:
    """Return the probes' protocol shortened to about so many timed seconds a row.

    The protocol's own length is for one network that a user waits for; here are hundreds.
    """
    return Settings(
        warm_up_runs=3,
        warm_up_s=0.1 * seconds,
        warm_up_limit_s=seconds,
        settle_limit_s=0.1 * seconds,
        least_runs=6,
        least_s=0.25 * seconds,
        cap_s=1.2 * seconds,
        load_limit_s=120.0,
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run.

    Attributes:
        timed_s: warm-up and timed runs of all rows together, those of earlier runs too.
        row_s: timed seconds that a row is planned with.
        busy_cores: work of others above which the run does not start; None for any.
    """

    timed_s: float = 90 * 60.0
    row_s: float = 2.4
    busy_cores: float | None = BUSY_CORES


def others_cores(seconds: float = _WATCH_S) -> float:
    """Return how many cores other programs keep busy; 0 where the system does not say."""
    accounting = Accounting()
    time.sleep(seconds)
    return float(accounting.finish(1, on_processor=False)["others_cores"] or 0)


class Bridge:
    """Times rows that are prepared.

    Args:
        data: folder with the graphs.
        folder: of environment and converted networks.
        table: that the rows are kept in.
        limits: of the run.
        tell: is told of each row.
        block: command line of a block's process; None for that of the environment.
    """

    def __init__(
        self,
        data: Path,
        folder: Path,
        table: Table,
        limits: Limits,
        tell: Callable[[str], None],
        block: Sequence[str] | None = None,
    ) -> None:
        self._data = data
        self._folder = folder
        self._table = table
        self._limits = limits
        self._tell = tell
        self._command = list(block) if block else command(folder, "bridge.block")
        self._settings = protocol(limits.row_s)
        # Interrupts are served by the first processor.
        self._processors = sorted(usable_processors(), reverse=True)

    def run(self, rows: Sequence[Row], versions: dict[str, str]) -> int:
        """Time the rows that the table lacks; return how many are left when the budget is spent.

        Rows that could not be prepared are kept with the reason; rows that nobody has tried to
        prepare are passed over.

        Raises:
            HostError: the machine is busy, or a row cannot be kept.
        """
        done = self._table.keys()
        waiting = [row for row in rows if row.key not in done and self._is_tried(row)]
        load = others_cores()
        if self._limits.busy_cores is not None and load > self._limits.busy_cores:
            raise HostError(
                "this machine",
                f"other programs keep {load:.2f} cores busy, over {self._limits.busy_cores:g}",
                "wait until they are done, or time anyway with --busy",
            )
        machine = {"host": host_facts(), "settings": asdict(self._settings), "versions": versions}
        self._table.add({"machine": machine, "load": load, "started_unix": time.time()})
        for number, row in enumerate(waiting):
            if self._table.timed_s >= self._limits.timed_s:
                self._measure_sentinel(rows)
                return len(waiting) - number
            if number % SENTINEL_EVERY == 0:
                self._measure_sentinel(rows)
            entry = self._entry(row)
            self._table.add({**_identity(row), **entry})
            words = entry.get("reason") or f"{entry['median_ms']} ms, {entry['verdict']}"
            self._tell(f"{number + 1}/{len(waiting)} {' '.join(map(str, row.key))}: {words}")
        if waiting:
            self._measure_sentinel(rows)
        return 0

    def _is_tried(self, row: Row) -> bool:
        form = form_folder(self._folder, row.network, row.runtime, row.precision)
        return form.exists() or reason_file(form).exists()

    def _measure_sentinel(self, rows: Sequence[Row]) -> None:
        """Keep one block of the sentinel under ONNX Runtime: its medians tell of drift."""
        network = next((row.network for row in rows if row.network.name == SENTINEL), None)
        if network is None:
            return
        row = Row(network, "onnxruntime", "fp32", 1)
        if form_folder(self._folder, network, row.runtime, row.precision).exists():
            try:
                block = self._block(row, profile=False)[0]
            except MeasuringError as error:
                self._tell(f"sentinel: {error.reason}")
                return
            self._table.add({"sentinel": block["median_ns"] / 1e6, "timed_s": _timed_s([block])})

    def _entry(self, row: Row) -> dict[str, Any]:
        form = form_folder(self._folder, row.network, row.runtime, row.precision)
        if not form.exists():
            return {"reason": reason_file(form).read_text("utf-8")}
        blocks: list[dict[str, Any]] = []
        operators: dict[str, Any] = {}
        verdict: dict[str, Any] = {"verdict": "inconclusive"}
        try:
            while len(blocks) < Settings().blocks or (
                len(blocks) == Settings().blocks and verdict["verdict"] == "inconclusive"
            ):
                block, profiled = self._block(row, profile=not blocks and row.threads == 1)
                operators.update(profiled)
                blocks.append(block)
                verdict = summary(blocks, self._settings)
        except MeasuringError as error:
            return {"reason": error.reason, "timed_s": _timed_s(blocks)}
        return {**_figures(verdict, blocks), **_by_kind(operators)}

    def _block(self, row: Row, *, profile: bool) -> tuple[dict[str, Any], dict[str, Any]]:
        form = form_folder(self._folder, row.network, row.runtime, row.precision)
        job = {
            **job_of(self._data, row.network, form, row.runtime, row.precision),
            "threads": row.threads,
            "configuration": {
                "threads": row.threads,
                "affinity": self._processors[: row.threads],
                "provider": CPU_PROVIDER,
            },
            "settings": asdict(self._settings),
            "profile": profile,
        }
        process = Block(self._command, job)
        operators: dict[str, Any] = {}
        try:
            for message in process.messages(Controls()):
                result = message["payload"]
            if profile:
                operators = process.operators(Controls())
        finally:
            process.close()
        return result, operators


def _identity(row: Row) -> dict[str, Any]:
    return {
        "network": row.network.name,
        "runtime": row.runtime,
        "precision": row.precision,
        "threads": row.threads,
    }


def _timed_s(blocks: Sequence[dict[str, Any]]) -> float:
    return float(sum(b["warm_up"]["seconds"] + sum(b["samples_ns"]) / 1e9 for b in blocks))


def _figures(verdict: dict[str, Any], blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what is kept of a row's blocks; all samples are sorted into percentiles."""
    samples = sorted(sample for block in blocks for sample in block["samples_ns"])
    return {
        "verdict": verdict["verdict"],
        "median_ms": verdict["median_ms"],
        "difference": verdict["difference"],
        "blocks_ms": [block["median_ns"] / 1e6 for block in blocks],
        "minimum_ms": samples[0] / 1e6,
        "p10_ms": percentile(samples, 0.1) / 1e6,
        "p90_ms": percentile(samples, 0.9) / 1e6,
        "runs": len(samples),
        "load_s": max(block["load_s"] for block in blocks),
        "timed_s": _timed_s(blocks),
        "started_unix": blocks[0]["started_unix"],
        "others_cores": max(block["others_cores"] or 0.0 for block in blocks),
        "stolen_cores": max(block["stolen_cores"] or 0.0 for block in blocks),
        "contended": any(block["contended"] for block in blocks),
    }


def _by_kind(operators: dict[str, Any]) -> dict[str, Any]:
    """Return the profile summed by kind of operator: ``kind: [count, ms]``, the longest first."""
    if "operators" not in operators:
        return {"operators_missing": operators.get("operators_missing", "")}
    kinds: dict[str, list[float]] = {}
    for _, kind, time_ns in operators["operators"]:
        totals = kinds.setdefault(kind, [0, 0.0])
        totals[0] += 1
        totals[1] += time_ns / 1e6
    longest = sorted(kinds.items(), key=lambda item: -item[1][1])[:_MOST_KINDS]
    return {"operators": {kind: [count, round(ms, 4)] for kind, (count, ms) in longest}}


def drift(entries: Iterable[dict[str, Any]]) -> float:
    """Return how far the sentinel's medians lie apart, as a share; 0 for less than two."""
    medians = [entry["sentinel"] for entry in entries if "sentinel" in entry]
    return float(difference(medians)) if len(medians) > 1 else 0.0
