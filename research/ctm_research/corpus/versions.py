"""Versions of a framework, where the measurements of an early one are of other starts.

PyTorch alone, operator by operator: it started them more slowly before its second version, and the
processors and drivers beside it were older too. Under TorchScript the versions do not differ so.
"""

from __future__ import annotations

import re
from typing import Final

_EAGER: Final = "pytorch"
_STATED: Final = re.compile(r", (?:torch )?(\d+)\.\d+[^,]*$")
_SECOND: Final = 2
# Publishers that state no version, or one of a container, with the year of their measurements.
_EARLY: Final = (
    "ryujaehun/pytorch-gpu-benchmark",  # 2017 to 2021
    "NVIDIA-AI-IOT/torch2trt",  # 2019
    "kentaroy47/benchmark-FP32-FP16-INT8-with-TensorRT",  # 2019
    "mlcommons/inference_results_v0.5",  # 2019
    "NVIDIA/DeepLearningExamples",  # containers of 2020 and 2021
    "waggle-sensor/summer2021",  # 2021
    "bytedance/lightseq",  # 2021
    "NVIDIA/TensorRT@a892d22267d9:demo/DeBERTa",  # 2022, PyTorch 1.x
    "NVIDIA/FasterTransformer",  # 2022, containers with PyTorch 1.x
    "ELS-RD/transformer-deploy",  # 2022, PyTorch 1.11
)


def has_early_starts(runtime: str, provenance: str) -> bool:
    """Return whether a measurement was made with PyTorch before its second version.

    Args:
        runtime: name of the runtime.
        provenance: who measured it, with the version last where the source states it.
    """
    if runtime != _EAGER:
        return False
    stated = _STATED.search(provenance)
    if stated is not None:
        return int(stated[1]) < _SECOND
    return provenance.startswith(_EARLY)
