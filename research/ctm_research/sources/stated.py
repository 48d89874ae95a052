"""Runtimes, precisions and statistics as tables of published latencies state them, in our words."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from ctm_research.sources.samples import Statistic
from predictor.core.records import Precision

# By the stated runtime, in lower case; a name that is not here stays as it is stated.
_RUNTIMES: Final = MappingProxyType(
    {
        "": "unknown",
        "n/a": "unknown",
        "ascend-cann": "cann",
        "cann-acl (om)": "cann",
        "drp-ai-tvm (mera/tvm)": "drp-ai",
        "dx_rt (run_model)": "dx-rt",
        "exynos enn": "enn",
        "hobot_dnn (hrt_model_exec perf)": "hobot-dnn",
        "igie (tvm)": "tvm",
        "keras": "tensorflow",
        "litert": "tflite",
        "microtvm": "tvm",
        "onnxruntime (spacemit-ort)": "onnxruntime",
        "paddle": "paddle-inference",
        "paddle-inference-tensorrt": "paddle-tensorrt",
        "paddlelite": "paddle-lite",
        "pulsar2/ax-engine": "axera",
        "samsung-enn": "enn",
        "snpe/qnn": "snpe",
        "sophon bmrt (bmrt_test)": "sophon",
        "stm32cube.ai": "x-cube-ai",
        "tengine-lite": "tengine",
        "tensorflow-graphdef": "tensorflow",
        "tensorflow-savedmodel": "tensorflow",
        "tensorrt or pytorch, not stated": "unknown",
        "tflite (x-linux-ai)": "tflite",
        "tflite benchmark_model": "tflite",
        "tflite-edgetpu": "tflite",
        "vitis-ai (dpu)": "vitis-ai",
    }
)
# By the start of the stated runtime: names with a version in them.
_STARTS: Final = (
    ("bosch hardware-aware", "bosch-hale"),
    ("enn ", "enn"),
    ("plumerai", "plumerai"),
    ("qualcomm ai stack", "snpe"),
    ("qualcomm-ai-stack", "snpe"),
    ("qualcomm neural", "snpe"),
    ("tensorflow lite for micro", "tflite-micro"),
    ("tflite-micro", "tflite-micro"),
    ("x-cube-ai", "x-cube-ai"),
)
# By runtime and a pattern in the stated provider or delegate, which did the work.
_PROVIDERS: Final = (
    ("onnxruntime", "tensorrt", "onnxruntime-tensorrt"),
    ("onnxruntime", "openvino", "onnxruntime-openvino"),
    ("onnxruntime", "inside paddle", "paddle-inference"),
    ("paddle-inference", "tensorrt", "paddle-tensorrt"),
    ("pytorch", "torchscript", "pytorch-torchscript"),
    ("tensorflow", "xla", "tensorflow-xla"),
    ("tflite", "armnn", "armnn"),
    ("tidl", "cpu", "tflite"),
    ("torch7", "^nn", "torch7-nn"),  # without cuDNN
)

_PRECISIONS: Final = MappingProxyType(
    {
        "fp32": Precision.FP32,
        "tf32": Precision.FP32,  # of an FP32 network; the card rounds factors of products
        "fp16": Precision.FP16,
        "bf16": Precision.BF16,
        "int8": Precision.INT8,
        "uint8": Precision.INT8,
        "w8a8": Precision.INT8,
        # What cannot run in INT8 runs in FP16, as with every INT8 network of these accelerators.
        "int8+fp16": Precision.INT8,
    }
)
# On a CPU they expand weights of files in FP16 when they load them, and compute in FP32.
_EXPANDING: Final = frozenset({"tflite", "openvino"})
NOT_STATED: Final = "the precision is not stated"
OTHER_FORMAT: Final = "a format of numbers, or a mixture, that no precision of ours says"
SPARSE: Final = "weights are sparse or pruned: the dense graph does not explain the time"

STATISTICS: Final = MappingProxyType(
    {
        "latency_median_ms": Statistic.MEDIAN,
        "latency_mean_ms": Statistic.MEAN,
        "latency_ms": Statistic.STATED,
        "latency_min_ms": Statistic.MINIMUM,
        "latency_p90_ms": Statistic.P90,
        "latency_p99_ms": Statistic.P99,
        "throughput_ips": Statistic.INTERVAL,
    }
)
"""By metric of the common form; a rate is one where runs do not overlap."""


def runtime_named(stated: str, provider: str, unit: str) -> str:
    """Return the runtime that ran: a name of the registry, or the stated one in lower case.

    Args:
        stated: as the source states it.
        provider: stated provider, delegate or back end.
        unit: cpu, gpu, npu, dsp, fpga or soc.
    """
    low = stated.lower()
    starting = (name for start, name in _STARTS if low.startswith(start))
    name = _RUNTIMES.get(low) or next(starting, low)
    for runtime, pattern, by_provider in _PROVIDERS:
        if name == runtime and re.search(pattern, provider.lower()):
            name = by_provider
    return "ncnn-vulkan" if name == "ncnn" and unit == "gpu" else name


def precision_named(stated: str, runtime: str, unit: str) -> tuple[Precision, str]:
    """Return the precision that ran, and why it cannot be said, else empty.

    Args:
        stated: as the source states it.
        runtime: our name of it.
        unit: cpu, gpu, npu, dsp, fpga or soc.
    """
    named = _PRECISIONS.get(stated)
    if named is Precision.FP16 and unit == "cpu" and runtime in _EXPANDING:
        return Precision.FP32, ""
    if named is not None:
        return named, ""
    if re.search("sparse|pruned", stated):
        return Precision.INT8, SPARSE
    unsaid = not stated or "not stated" in stated or "assumed" in stated
    return Precision.FP32, NOT_STATED if unsaid else OTHER_FORMAT
