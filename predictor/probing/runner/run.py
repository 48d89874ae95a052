"""The run: networks in order, blocks in fresh processes, the sentinel between them."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .failures import MeasuringError
from .medians import difference, summary
from .messages import Controls
from .process import Block, worker_command
from .results import Results
from .settings import Settings


class Run:
    """Measures a plan.

    Args:
        plan: the plan's document.
        folder: that its files lie in.
        lines: takes the messages.
        controls: commands for it meanwhile.
        worker: command line of a block's process.
    """

    def __init__(
        self,
        plan: dict[str, Any],
        folder: Path,
        lines: Any,
        controls: Controls | None = None,
        worker: Sequence[str] | None = None,
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._lines = lines
        self._controls = controls or Controls()
        self._worker = list(worker) if worker else worker_command()
        self._settings = Settings(**plan["settings"])
        self._sentinel_ns: list[int] = []
        self._process: Block | None = None  # of all networks, where they have one block

    def measure(self, results: Results) -> None:
        """Measure every network that ``results`` has no number of, and keep each at once.

        Raises:
            StoppedError: a command stopped the run.
        """
        self._lines.send(0, "progress", {"event": "run", "host": results.document["host"]})
        waiting = [
            (number, network)
            for number, network in enumerate(self._plan["networks"], 1)
            if not results.has(network["name"])
        ]
        try:
            for place, (number, network) in enumerate(waiting):
                if place in {0, (len(waiting) + 1) // 2}:
                    self._measure_sentinel(results)
                self._measure_network(number, network, results)
            if waiting:
                self._measure_sentinel(results)
        finally:
            self._end_process()
        results.finish()
        self._lines.send(0, "progress", {"event": "finished"})

    def _measure_network(self, number: int, network: dict[str, Any], results: Results) -> None:
        try:
            entry = self._entry(number, network)
        except MeasuringError as error:
            entry = {"failure": error.code, "reason": error.reason}
            self._lines.send(number, "error", {"event": "failed", "name": network["name"], **entry})
        else:
            self._lines.send(number, "result", {"event": "measured", **entry})
        results.add({**_identity(network), **entry})

    def _entry(self, number: int, network: dict[str, Any]) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = []
        operators: dict[str, Any] = {}
        result: dict[str, Any] = {"verdict": "inconclusive"}
        while len(blocks) < self._settings.blocks or (
            len(blocks) == self._settings.blocks and result["verdict"] == "inconclusive"
        ):
            first = None if blocks else operators
            blocks.append(self._block(number, network, len(blocks) + 1, first))
            result = summary(blocks, self._settings)
        return {**_identity(network), **result, "blocks": blocks, **operators}

    def _block(
        self,
        number: int,
        network: dict[str, Any],
        block: int,
        operators: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Measure one block; with ``operators`` a profiled pass follows, which fills them."""
        self._controls.wait_while_paused()
        path = self._folder / network["file"]
        _check_file(path, network["sha256"])
        about = {"name": network["name"], "block": block, "sentinel": number == 0}
        self._lines.send(number, "progress", {"event": "block", **about})
        job = {
            "path": str(path),
            "inputs": network.get("inputs", {}),
            "configuration": self._plan["configuration"],
            "settings": asdict(self._settings),
            "more": self._settings.blocks == 1,
        }
        with _profile_folder(self._folder, operators) as job["profile"]:
            process = self._started(job)
            is_well = False
            try:
                result = self._result(process, number, about)
                if operators is not None and job["profile"]:
                    operators.update(process.operators(self._controls))
                is_well = operators is None or "operators_missing" not in operators
            finally:
                if not (is_well and job["more"]):
                    self._end_process()
        return result

    def _started(self, job: dict[str, Any]) -> Block:
        """Return the process that measures a job: a fresh one, or the one of all networks."""
        if self._process is None:
            self._process = Block(self._worker, job)
        else:
            self._process.send(job)
        return self._process

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _result(self, process: Block, number: int, about: dict[str, Any]) -> dict[str, Any]:
        for message in process.messages(self._controls):
            if message["kind"] == "result":
                return dict(message["payload"])
            if message["payload"].get("event") == "samples":
                self._lines.send(number, "progress", {**message["payload"], **about})
        raise AssertionError("messages end with a result or an error")

    def _measure_sentinel(self, results: Results) -> None:
        """Measure the sentinel in one block, and send the spread of its medians."""
        network = self._plan.get("sentinel")
        if network is None:
            return
        try:
            block = self._block(0, network, len(self._sentinel_ns) + 1)
        except MeasuringError as error:
            about = {"event": "failed", "name": network["name"], "sentinel": True}
            failure = {"failure": error.code, "reason": error.reason}
            self._lines.send(0, "error", {**about, **failure})
            return
        self._sentinel_ns.append(block["median_ns"])
        drift = difference(self._sentinel_ns)
        results.add_sentinel(block, drift)
        medians_ms = [median / 1e6 for median in self._sentinel_ns]
        self._lines.send(
            0, "progress", {"event": "drift", "medians_ms": medians_ms, "drift": drift}
        )


@contextlib.contextmanager
def _profile_folder(parent: Path, operators: dict[str, Any] | None) -> Iterator[str | None]:
    """Make the folder that a profiled pass writes to, and remove it; None where there is none.

    It lies beside the plan: whoever clears that folder clears it too after a kill.
    """
    made = None
    if operators is not None:
        try:
            made = tempfile.mkdtemp(prefix="ctm-profile-", dir=str(parent))
        except OSError as error:
            operators["operators_missing"] = f"no profile can be written ({error.strerror})"
    try:
        yield made
    finally:
        if made:
            shutil.rmtree(made, ignore_errors=True)


def _identity(network: dict[str, Any]) -> dict[str, Any]:
    return {key: network[key] for key in ("name", "fingerprint", "sha256")}


def _check_file(path: Path, sha256: str) -> None:
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise MeasuringError(
            "changed-file", f"{path.name} cannot be read ({error.strerror})"
        ) from error
    if digest != sha256:
        raise MeasuringError("changed-file", f"{path.name} is not the file that was planned")
