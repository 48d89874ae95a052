"""Names of shipped devices as four kinds of sources write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

_UNIT: Final = re.compile(r",? *\((?:CPU|GPU|NPU|laptop|notebook)[^)]*\)", re.IGNORECASE)
_SOCKETS: Final = re.compile(r"^(\d+) x ")
# Part numbers that systems print in place of the name of the chip.
_PARTS: Final[Mapping[str, str]] = {
    "Snapdragon 888": "SM8350",
    "Snapdragon 865": "SM8250",
    "Snapdragon 855+": "SM8150-AC",
    "Snapdragon 855": "SM8150",
    "Snapdragon 845": "SDM845",
    "Snapdragon 835": "MSM8998",
    "Snapdragon 821": "MSM8996 Pro",
    "Snapdragon 810": "MSM8994",
    "Snapdragon 710": "SDM710",
    "Snapdragon 675": "SM6150",
    "Snapdragon 660": "SDM660",
    "Snapdragon 636": "SDM636",
    "Snapdragon 625": "MSM8953",
    "Snapdragon 410": "MSM8916",
    "Snapdragon 8 Gen 3": "SM8650",
    "Snapdragon 8 Gen 2": "SM8550",
    "Dimensity 9300": "MT6989",
    "Dimensity 720": "MT6853",
    "Helio P35": "MT6765",
    "Kirin 960": "hi3660",
    "Kirin 970": "hi3670",
    "Kirin 950": "hi3650",
    "Raspberry Pi 4 Model B": "Raspberry Pi 4 Model B Rev 1.4",
    "Raspberry Pi 5": "Raspberry Pi 5 Model B Rev 1.0",
}


def by_cpuinfo(name: str) -> str:
    """Return a name as ``/proc/cpuinfo`` and the device tree have it."""
    text = _SOCKETS.sub("", _UNIT.sub("", name))
    for title, part in _PARTS.items():
        if title in text:
            return f"Hardware : {text.replace(title, part)}"
    text = re.sub(r"^Intel (Core|Xeon|Atom|Celeron)", r"Intel(R) \1(R)", text)
    text = text.replace("Core(R)", "Core(TM)").replace("Atom(R)", "Atom(TM)")
    generation = re.search(r"i[3579]-(1[1-4])", text)
    if generation:
        return f"{generation[1]}th Gen {text}"
    if "Intel(R)" in text:
        return f"{text} CPU @ 2.40GHz"
    return f"{text} 16-Core Processor" if "EPYC" in text or "Ryzen" in text else text


def by_geekbench(name: str) -> str:
    """Return a name as Geekbench's browser has it."""
    return f"{_SOCKETS.sub('', _UNIT.sub('', name))} @ 2.4 GHz"


def by_mlperf(name: str) -> str:
    """Return a name as systems of MLPerf have it: joined, with the count of chips."""
    text = _UNIT.sub("", name)
    several = _SOCKETS.match(text)
    text = re.sub(r"(\d+) (GB|MP)", r"\1\2", _SOCKETS.sub("", text))
    count = several[1] if several else "1"
    return f"{count}x_{re.sub(r'[ ,]+', '_', text)}" if " " in text else f"{text}-SERVER"


def by_driver(name: str) -> str:
    """Return a name as drivers and tools for them print it."""
    text = _SOCKETS.sub("", _UNIT.sub("", name))
    text = re.sub(r"^NVIDIA (GeForce|Quadro|Tesla)", r"NVIDIA Corporation \1", text)
    text = re.sub(r"(V100|A100|H100|P100) (PCIe|SXM\d?) (\d+) GB", r"\1-\2-\3GB", text)
    text = re.sub(r"(Adreno) (\d)", r"\1 (TM) \2", text)
    text = re.sub(r"^Intel (Arc|Iris|UHD|HD)", r"Intel(R) \1(TM)", text)
    return text.upper() if "Mali" not in text else text


STYLES: Final[Mapping[str, Callable[[str], str]]] = {
    "cpuinfo": by_cpuinfo,
    "Geekbench": by_geekbench,
    "MLPerf": by_mlperf,
    "driver": by_driver,
}
