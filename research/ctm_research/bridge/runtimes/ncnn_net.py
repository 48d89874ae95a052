"""ncnn: from ONNX by pnnx."""

from __future__ import annotations

import importlib.util
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ctm_research.bridge.runtimes.job import (
    PROFILED_RUNS,
    ConversionError,
    Job,
    Operators,
    medians,
)  # fmt: skip

BOUNDARY = "a new extractor, from its inputs to all outputs"


def convert(job: Job) -> None:
    """Convert with FP32 weights."""
    if job.precision == "int8":
        raise ConversionError("ncnn's package has no tool that quantises")
    program = Path(str(importlib.util.find_spec("pnnx").origin)).with_name("pnnx")  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "model.onnx"
        source.symlink_to(job.source)
        inputs = [f"{folder}/in{number}.npy" for number in range(len(job.inputs()))]
        for path, array in zip(inputs, job.inputs().values(), strict=True):
            np.save(path, array)
        done = subprocess.run(
            [program, source, f"input={','.join(inputs)}", "fp16=0"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        for ending in ("param", "bin"):
            written = Path(folder) / f"model.ncnn.{ending}"
            if not written.exists():
                raise ConversionError(f"pnnx wrote no {written.name} ({_last_line(done.stderr)})")
            (job.folder / f"model.{ending}").write_bytes(written.read_bytes())
    _check(job)


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2][-200:]


def _check(job: Job) -> None:
    """Refuse what ncnn cannot run: pnnx writes operators that ncnn lacks all the same."""
    Session(job).run()


class Session:
    """A network that ncnn has loaded."""

    def __init__(self, job: Job) -> None:
        import ncnn  # noqa: PLC0415

        self.net = ncnn.Net()
        self.net.opt.num_threads = job.threads
        self.net.opt.use_vulkan_compute = False
        param, weights = job.folder / "model.param", job.folder / "model.bin"
        if self.net.load_param(str(param)) or self.net.load_model(str(weights)):
            raise ConversionError("ncnn does not load what pnnx wrote")
        # A Mat of an array reads its memory, which goes with the array; a clone has its own.
        self._inputs = [
            ncnn.Mat(np.ascontiguousarray(_without_batch(array))).clone()
            for array in job.inputs().values()
        ]
        self._outputs = list(self.net.output_names())

    def extractor(self) -> Any:
        """Return an extractor that has its inputs."""
        extractor = self.net.create_extractor()
        for name, values in zip(self.net.input_names(), self._inputs, strict=True):
            extractor.input(name, values)
        return extractor

    def run(self) -> Any:
        """Run once."""
        extractor = self.extractor()
        for name in self._outputs:
            code, result = extractor.extract(name)
            if code:
                raise ConversionError(f"ncnn's result {name} has code {code}")
        return result


def _without_batch(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values = array[0] if array.ndim > 1 else array
    return values.astype(np.int32) if values.dtype.kind == "i" else values


def operators(job: Job) -> Operators:
    """Return the times of the layers: each result is asked for after those before it.

    The package is built without ncnn's own times of layers. A result leaves the extractor in its
    plain layout, which adds a little to each.
    """
    session = Session(job)
    session.net.opt.lightmode = False  # keeps the results that later layers need
    layers = list(_layers(job.folder / "model.param"))
    runs = []
    for _ in range(PROFILED_RUNS + 1):
        extractor, run = session.extractor(), []
        for kind, name, result in layers:
            start = time.perf_counter_ns()
            extractor.extract(result)
            run.append((name, kind, float(time.perf_counter_ns() - start)))
        runs.append(run)
    return medians(runs[1:])


def _layers(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and first result of each layer of a param file."""
    for line in path.read_text(encoding="utf-8").splitlines()[2:]:
        kind, name, inputs, _, *rest = line.split()
        if kind not in {"Input", "Split", "MemoryData"}:
            yield kind, name, rest[int(inputs)]
