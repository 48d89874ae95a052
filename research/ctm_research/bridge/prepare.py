"""Conversion and compilation of the rows' networks, which no budget of timed seconds counts."""

from __future__ import annotations

import json
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from ctm_research.bridge.environment import command
from ctm_research.bridge.rows import INT8_RUNTIMES, Network
from ctm_research.bridge.runtimes import MODULES
from predictor.core.errors import HostError, InputError

LIMIT_S = 900.0
_LEAST_FREE = 2 << 30
# An adapter may start from the files of one before it.
FORMS = (
    ("", ""),
    *((runtime, "fp32") for runtime in MODULES),
    *((runtime, "int8") for runtime in INT8_RUNTIMES),
)


def network_folder(folder: Path, network: Network) -> Path:
    """Return the folder of a network's files."""
    return folder / "networks" / network.name


def form_folder(folder: Path, network: Network, runtime: str, precision: str) -> Path:
    """Return the folder of a network under a runtime; of the ONNX file where that is empty."""
    name = f"{runtime}-{precision}" if runtime else "source"
    return network_folder(folder, network) / name


def reason_file(form: Path) -> Path:
    """Return the file that says why a form could not be made."""
    return form.with_name(f"{form.name}.reason")


def job_of(
    data: Path, network: Network, form: Path, runtime: str, precision: str
) -> dict[str, Any]:
    """Return the job of the environment's processes."""
    return {
        "runtime": runtime,
        "precision": precision,
        "archive": str(data / network.set / "graphs.zip"),
        "member": f"graphs/{network.file}",
        "source": str(form.with_name("source") / "model.onnx"),
        "folder": str(form),
        "module": network.module,
        "threads": 1,
    }


def prepare(
    data: Path,
    folder: Path,
    networks: Sequence[Network],
    tell: Callable[[str], None],
    limit_s: float = LIMIT_S,
) -> None:
    """Make what is not made, form by form: whatever fails leaves its reason and the rest goes on.

    Raises:
        InputError: the data folder lacks a set of graphs.
        HostError: the disk is nearly full, or there is no environment.
    """
    for name in sorted({network.set for network in networks}):
        if not (data / name / "graphs.zip").is_file():
            raise InputError(str(data), f"it has no {name}/graphs.zip", "name the data folder")
    for runtime, precision in FORMS:
        chosen = [n for n in networks if precision != "int8" or n.more]
        waiting = [
            (network, form)
            for network in chosen
            if not (form := form_folder(folder, network, runtime, precision)).exists()
            and not reason_file(form).exists()
        ]
        if not waiting:
            continue
        with Converter(command(folder, "bridge.convert"), folder, limit_s) as converter:
            for network, form in waiting:
                check_disk(folder)
                began = time.monotonic()
                form.parent.mkdir(parents=True, exist_ok=True)
                job = job_of(data, network, form, runtime, precision)
                missing = _missing_source(form, runtime)
                reason = missing or converter.answer(job).get("reason", "")
                if reason:
                    reason_file(form).write_text(reason, encoding="utf-8")
                seconds = time.monotonic() - began
                tell(f"{network.name} {form.name}: {reason or f'{seconds:.1f} s'}")


def _missing_source(form: Path, runtime: str) -> str:
    source = form.with_name("source")
    if not runtime or source.exists():
        return ""
    words = reason_file(source)
    why = words.read_text(encoding="utf-8") if words.exists() else "it was not made"
    return f"no ONNX file with weights: {why}"


def check_disk(folder: Path) -> None:
    """Refuse to go on with a disk that is nearly full.

    Raises:
        HostError: it is.
    """
    if shutil.disk_usage(folder).free < _LEAST_FREE:
        raise HostError(str(folder), "under 2 GB of the disk are free", "make room and run again")


class Converter:
    """A process of converters, started anew after a job that ended or outlasted it."""

    def __init__(self, arguments: Sequence[str], folder: Path, limit_s: float) -> None:
        self._arguments = list(arguments)
        self._limit_s = limit_s
        self._log = (folder / "convert.log").open("ab")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._log.close()

    def _end(self) -> int:
        if self._process is None:
            return 0
        self._process.kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process = None
        return code

    def answer(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the process's answer to a job, with a ``reason`` where it failed."""
        pipe = subprocess.PIPE
        if self._process is None:
            self._process = subprocess.Popen(
                self._arguments, stdin=pipe, stdout=pipe, stderr=self._log
            )
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both are pipes")
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
        answered, _, _ = select.select([process.stdout], [], [], self._limit_s)
        line = process.stdout.readline() if answered else b""
        if line:
            return dict(json.loads(line))
        code = self._end()
        if not answered:
            return {"reason": f"it was not done within {self._limit_s:g} s"}
        end = "signal " if code < 0 else "exit code "
        return {"reason": f"its converter ended with {end}{abs(code)}"}
