"""NeuSight's description of a GPU in our form (github.com/sitar-lab/NeuSight, device_configs).

Its fields: Device, Dev_Mem (GB), Mem_Bw (GB/s), Num_Sm, Core_Per_SM, Freq (MHz), SingleFLOPs
(GFLOP/s), L2Cache (MiB). For AMD, Core_Per_SM counts the SIMD units of a compute unit (16 lanes
each), SingleFLOPsVEC is the vector rate and SingleFLOPsMM the matrix rate in FP32.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from predictor.core.metrics import METRIC_BY_NAME
from predictor.devices.fields import MAX_ID, MAX_NAME, Place, check_number, check_text

_NEUSIGHT_MARKS = frozenset({"Device", "Num_Sm", "Mem_Bw"})
_LANES_PER_AMD_SIMD = 16

# A word of a product's name -> its chip and architecture: no other product has that word.
_DESIGNS = {
    "p100": ("gp100", "pascal-gp100"),
    "p4": ("gp104", "pascal-gp10x"),
    "v100": ("gv100", "volta"),
    "t4": ("tu104", "turing"),
    "a100": ("ga100", "ampere-ga100"),
    "l4": ("ad104", "ada"),
    "h100": ("gh100", "hopper"),
    "mi100": ("arcturus", "cdna-1"),
    "mi210": ("aldebaran", "cdna-2"),
    "mi250": ("aldebaran", "cdna-2"),
}

# NeuSight's field -> our metric and the factor between the units.
_NEUSIGHT_FIELDS: dict[str, tuple[str, float]] = {
    "Dev_Mem": ("dram_gb", 1),
    "Mem_Bw": ("dram_bw_gbps", 1),
    "Num_Sm": ("core_count", 1),
    "Core_Per_SM": ("fp32_au_per_core", 1),
    "Freq": ("boost_clock_mhz", 1),
    "SingleFLOPs": ("fp32_tflops", 1e-3),
    "SingleFLOPsVEC": ("fp32_tflops", 1e-3),
    "L2Cache": ("l2_kb", 1024),
}


def is_neusight(content: Mapping[str, object]) -> bool:
    """Whether a JSON object is NeuSight's description of a GPU."""
    return "schema" not in content and content.keys() >= _NEUSIGHT_MARKS


def to_device_object(content: Mapping[str, object], subject: str) -> dict[str, object]:
    """Return the same GPU in our form; fields that we do not know become unknown metrics.

    Raises:
        InputError: when a field is of the wrong type or its value out of range, in its own name.
    """
    place = Place(subject)
    name = check_text(content["Device"], place.at("Device"), MAX_NAME)
    is_amd = "SingleFLOPsVEC" in content
    metrics: dict[str, float] = {}
    sources: dict[str, str] = {}
    for key, value in content.items():
        if key == "Device":
            continue
        number = check_number(value, place.at(key))
        metric, factor = _NEUSIGHT_FIELDS.get(key, (key, 1))
        if key == "Core_Per_SM" and is_amd:
            factor = _LANES_PER_AMD_SIMD
        metrics[metric] = number * factor
        if metric in METRIC_BY_NAME:
            sources[metric] = f"NeuSight device description, field {key}"
    return {
        "schema": "ctm-hcv/1",
        "id": _slug(name),
        "name": name,
        "vendor": "AMD" if is_amd else "NVIDIA",
        "family": "gpu",
        **_design(name),
        "configurations": [{"runtime": "pytorch", "precision": "fp32"}],
        "metrics": metrics,
        "sources": sources,
    }


def _design(name: str) -> dict[str, str]:
    for word in _words(name):
        if word in _DESIGNS:
            return dict(zip(("chip", "architecture"), _DESIGNS[word], strict=True))
    return {}


def _slug(name: str) -> str:
    return "-".join(_words(name))[:MAX_ID].strip("-") or "gpu"


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())
