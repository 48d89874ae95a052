"""MNN: from ONNX by its own converter; int8 as weights of 8 bits with dynamic activations.

The package's command lines ``mnnconvert`` and ``mnnquant`` install other packages into whichever
Python comes first and report each conversion to their maker, so the functions behind them are
called.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ctm_research.bridge.runtimes.job import (
    PROFILED_RUNS,
    ConversionError,
    Job,
    Operators,
    medians,
)  # fmt: skip

BOUNDARY = "interpreter.runSession, inputs copied before"


def convert(job: Job) -> None:
    """Convert, with 8-bit weights for int8."""
    import _tools  # noqa: PLC0415  # MNN's top-level module of converters
    import MNN  # noqa: F401, PLC0415  # loads its libraries

    target = job.folder / "model.mnn"
    arguments = ["mnnconvert", "-f", "ONNX", "--modelFile", str(job.source)]
    arguments += ["--MNNModel", str(target), "--bizCode", "ctm"]
    if job.precision == "int8":
        arguments += ["--weightQuantBits", "8"]
    _tools.mnnconvert(arguments)
    if not target.exists():
        raise ConversionError("MNN's converter wrote no file")


class Session:
    """A network in MNN's interpreter."""

    def __init__(self, job: Job) -> None:
        import MNN  # noqa: PLC0415

        self._mnn = MNN
        self.interpreter = MNN.Interpreter(str(job.folder / "model.mnn"))
        configuration = {"backend": "CPU", "numThread": job.threads, "precision": "high"}
        if job.precision == "int8":
            configuration["memory"] = "low"  # computes with the 8-bit weights
        self.session = self.interpreter.createSession(configuration)
        self._kept: list[np.ndarray[Any, Any]] = []
        for name, array in job.inputs().items():
            tensor = self.interpreter.getSessionInput(self.session, name)
            self._copy(tensor, array)

    def _copy(self, tensor: Any, array: np.ndarray[Any, Any]) -> None:
        kind, dtype = (
            (self._mnn.Halide_Type_Float, np.float32)
            if array.dtype.kind == "f"
            else (self._mnn.Halide_Type_Int, np.int32)
        )
        values = np.ascontiguousarray(array.astype(dtype))
        layout = self._mnn.Tensor_DimensionType_Caffe
        tensor.copyFrom(self._mnn.Tensor(array.shape, kind, values, layout))
        self._kept.append(values)

    def run(self) -> Any:
        """Run once."""
        self.interpreter.runSession(self.session)


def operators(job: Job) -> Operators:
    """Return the times of the operators, by MNN's callbacks before and after each."""
    session = Session(job)
    runs = []
    for _ in range(PROFILED_RUNS + 1):
        run: list[tuple[str, str, float]] = []
        started = [0]

        def before(*_: Any, started: list[int] = started) -> bool:
            started[0] = time.perf_counter_ns()
            return True

        def after(
            _: Any,
            info: Any,
            started: list[int] = started,
            run: list[tuple[str, str, float]] = run,
        ) -> bool:
            passed = time.perf_counter_ns() - started[0]
            run.append((info.getName(), info.getType(), float(passed)))
            return True

        session.interpreter.runSessionWithCallBackInfo(session.session, before, after)
        runs.append(run)
    return medians(runs[1:])
