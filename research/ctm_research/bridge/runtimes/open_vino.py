"""OpenVINO: the ONNX file by its own reader; int8 from the QDQ file of ONNX Runtime."""

from __future__ import annotations

import sys
from typing import Any

from ctm_research.bridge.runtimes.job import (
    PROFILED_RUNS,
    ConversionError,
    Job,
    Operators,
    medians,
)  # fmt: skip

BOUNDARY = "infer_request.infer with shared memory"


def _openvino() -> Any:
    # Its telemetry would report each start, by a forked process that keeps our pipes open for good.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # bars the import
    import openvino  # noqa: PLC0415

    return openvino


def convert(job: Job) -> None:
    """Read the ONNX file and write OpenVINO's own form."""
    openvino = _openvino()

    source = job.source
    if job.precision == "int8":
        source = job.folder.with_name("onnxruntime-int8") / "model.onnx"
        if not source.exists():
            raise ConversionError("ONNX Runtime's quantisation, which it starts from, failed")
    openvino.save_model(
        openvino.Core().read_model(source), job.folder / "model.xml", compress_to_fp16=False
    )


class Session:
    """A network that OpenVINO has compiled for the processor."""

    def __init__(self, job: Job, *, profile: bool = False) -> None:
        openvino = _openvino()

        configuration = {
            "PERFORMANCE_HINT": "LATENCY",
            # The default on processors with AMX is bfloat16.
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": job.threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
            "PERF_COUNT": profile,
        }
        compiled = openvino.Core().compile_model(job.folder / "model.xml", "CPU", configuration)
        self.request = compiled.create_infer_request()
        self._inputs = list(job.inputs().values())

    def run(self) -> Any:
        """Run once."""
        return self.request.infer(self._inputs, share_inputs=True, share_outputs=True)


def operators(job: Job) -> Operators:
    """Return the times of the executed nodes, by OpenVINO's performance counters."""
    session = Session(job, profile=True)
    session.run()
    runs = []
    for _ in range(PROFILED_RUNS):
        session.run()
        runs.append(
            [
                (info.node_name, info.node_type, info.real_time.total_seconds() * 1e9)
                for info in session.request.profiling_info
                if info.real_time
            ]
        )
    return medians(runs)
