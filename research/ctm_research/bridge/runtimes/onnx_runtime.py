"""ONNX Runtime: the graph as it is; int8 as QDQ with per-channel weights."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from ctm_research.bridge.runtimes.job import PROFILED_RUNS, Job, Operators
from predictor.probing.runner.profiling import node_times

BOUNDARY = "session.run, inputs prepared before"


def convert(job: Job) -> None:
    """Quantise for int8: activations unsigned, weights signed, as x86 kernels want them."""
    if job.precision == "fp32":
        (job.folder / "model.onnx").symlink_to(job.source)
        return
    from onnxruntime.quantization import (  # noqa: PLC0415
        CalibrationDataReader,
        QuantFormat,
        QuantType,
        quantize_static,
    )  # fmt: skip
    from onnxruntime.quantization.shape_inference import quant_pre_process  # noqa: PLC0415

    class Reader(CalibrationDataReader):  # type: ignore[misc]  # untyped
        def __init__(self) -> None:
            self._left = job.calibration()

        def get_next(self) -> dict[str, Any] | None:
            return next(self._left, None)

    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        quant_pre_process(str(job.source), str(plain), skip_symbolic_shape=True)
        quantize_static(
            str(plain),
            str(job.folder / "model.onnx"),
            Reader(),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )


class Session:
    """A network that onnxruntime has loaded."""

    def __init__(self, job: Job, profile: str | None = None) -> None:
        import onnxruntime  # noqa: PLC0415

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = job.threads
        options.inter_op_num_threads = 1
        if profile is not None:
            options.enable_profiling = True
            options.profile_file_prefix = profile
        path = str(job.folder / "model.onnx")
        self.session = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
        self._feeds = job.inputs()

    def run(self) -> Any:
        """Run once."""
        return self.session.run(None, self._feeds)


def operators(job: Job) -> Operators:
    """Return the times of the nodes, by onnxruntime's profiler."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(job, f"{folder}/profile")
        for _ in range(PROFILED_RUNS + 1):
            session.run()
        events = json.loads(Path(session.session.end_profiling()).read_bytes())
    complete = [event for event in events if event.get("ph") == "X"]
    return node_times(sorted(complete, key=lambda event: int(event["ts"])), 1)
