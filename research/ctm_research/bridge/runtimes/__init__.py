"""Runtimes of the bridge: one adapter a module, run in the bridge's own environment.

An adapter has ``BOUNDARY``, what is timed, and

- ``convert(job)``: writes its files into the job's folder;
- ``Session(job)``: a loaded network with ``run()``;
- ``operators(job)``: ``[name, kind, time_ns]`` of each operator by the runtime's own profiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

MODULES: Final = {
    "onnxruntime": "onnx_runtime",
    "openvino": "open_vino",
    "pytorch": "torch_eager",
    "pytorch-compiled": "torch_compiled",
    "tflite": "litert",
    "ncnn": "ncnn_net",
    "mnn": "mnn_net",
}

DISTRIBUTIONS: Final = (
    "onnxruntime", "openvino", "torch", "timm", "torchvision", "transformers", "onnx2torch",
    "ai-edge-litert", "litert-torch", "ai-edge-quantizer", "ncnn", "pnnx", "MNN",
)  # fmt: skip
"""Packages whose versions are kept with the rows."""


def adapter(runtime: str) -> Any:
    """Return the module of a runtime."""
    return import_module(f"{__name__}.{MODULES[runtime]}")
