"""Facts of Windows and macOS about their processors, under the names of /proc/cpuinfo.

So one table and one set of rules serve all three systems. What a system does not report is absent.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from predictor.devices.processors import PARTIAL

# Windows, winnt.h: features of IsProcessorFeaturePresent (learn.microsoft.com, processthreadsapi.h)
# and the words of Linux for them. It does not report VNNI, FP16 on x86 or AMX.
_X86_FEATURES: Final[Mapping[int, str]] = {
    37: "sse4_1",
    39: "avx",
    40: "avx2 fma",  # no processor has the one without the other but for VIA's
    41: "avx512f avx512cd avx512bw avx512dq avx512vl",
}
_ARM_FEATURES: Final[Mapping[int, str]] = {
    19: "asimd",
    43: "asimddp",
    46: "sve",
    47: "sve2",
    66: "i8mm",
    67: "asimdhp",
    68: "bf16",
    70: "sme",
}
_PROCESSOR_KEY: Final = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_IDENTIFIER: Final = re.compile(r"Family (\d+) Model (\d+)")

# macOS: sysctl's names of features and the words of Linux for them.
_APPLE_FEATURES: Final[Mapping[str, str]] = {
    "AdvSIMD": "asimd",
    "FEAT_FP16": "asimdhp",
    "FEAT_DotProd": "asimddp",
    "FEAT_I8MM": "i8mm",
    "FEAT_BF16": "bf16",
    "FEAT_SME": "sme",
}
_INTEL_WORDS: Final = {"sse4.1": "sse4_1", "avx1.0": "avx", "avx512vnni": "avx512_vnni"}
_SYSCTL: Final = ("/usr/sbin/sysctl", "hw", "machdep.cpu")
_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class HostCores:
    """Cores of one kind.

    Attributes:
        fields: of one of them, by their names in /proc/cpuinfo.
        cores: their number; 0 where it is not known.
        small: whether they are the efficient ones of two kinds.
        l1_kb, l2_kb: data cache of a core and second-level cache of the cluster, in KiB; 0 where
            they are not known.
    """

    fields: Mapping[str, str]
    cores: int = 0
    small: bool = False
    l1_kb: float = 0
    l2_kb: float = 0


def host_cores() -> tuple[HostCores, ...]:
    """Return the kinds of cores of this machine, the fastest first; none on another system."""
    if sys.platform == "win32":
        has_feature = ctypes.windll.kernel32.IsProcessorFeaturePresent
        return windows_cores(_registry_values(), lambda number: bool(has_feature(number)))
    if sys.platform == "darwin":
        return mac_cores(_sysctl_text())
    return ()


def windows_cores(
    values: Mapping[str, object], has_feature: Callable[[int], bool]
) -> tuple[HostCores, ...]:
    """Return the cores of a Windows machine.

    Args:
        values: of the first processor in the registry, by name.
        has_feature: whether the processor has a feature of IsProcessorFeaturePresent.
    """
    name = str(values.get("ProcessorNameString", "")).strip()
    identity = _IDENTIFIER.search(str(values.get("Identifier", "")))
    midr = values.get("CP 4000")
    if isinstance(midr, int):
        # The main id register: implementer in bits 31 to 24, part in 15 to 4.
        fields = {
            "CPU implementer": hex(midr >> 24 & 0xFF),
            "CPU part": hex(midr >> 4 & 0xFFF),
            "Features": _words(_ARM_FEATURES, has_feature),
        }
    elif identity is None:
        return ()
    else:
        fields = {
            "vendor_id": str(values.get("VendorIdentifier", "")),
            "cpu family": identity[1],
            "model": identity[2],
            "flags": _words(_X86_FEATURES, has_feature),
        }
    return (HostCores(MappingProxyType({**fields, "model name": name, "features": PARTIAL})),)


def mac_cores(text: str) -> tuple[HostCores, ...]:
    """Return the cores of a Mac from what ``sysctl hw machdep.cpu`` prints."""
    lines = (line.partition(":") for line in text.splitlines())
    values = {name.strip(): value.strip() for name, _, value in lines}
    brand = values.get("machdep.cpu.brand_string", "")
    if "machdep.cpu.family" in values:
        return (HostCores(MappingProxyType(_intel_mac_fields(values, brand))),)
    family = values.get("hw.cpufamily", "")
    if not family.lstrip("-").isdecimal():
        return ()
    words = [word for name, word in _APPLE_FEATURES.items() if _is_on(values, name)]
    fields = {
        # Printed as a signed number of 32 bits.
        "cpufamily": f"{int(family) & 0xFFFFFFFF:#010x}",
        "model name": brand,
        "Features": " ".join(words),
    }
    levels = (f"hw.perflevel{level}" for level in range(2))
    return tuple(
        HostCores(
            MappingProxyType(fields),
            _count(values, f"{level}.physicalcpu"),
            small=level.endswith("1"),
            l1_kb=_count(values, f"{level}.l1dcachesize") / 1024,
            l2_kb=_count(values, f"{level}.l2cachesize") / 1024,
        )
        for level in levels
        if _count(values, f"{level}.physicalcpu")
    )


def _intel_mac_fields(values: Mapping[str, str], brand: str) -> dict[str, str]:
    words = (
        f"{values.get('machdep.cpu.features', '')} {values.get('machdep.cpu.leaf7_features', '')}"
    )
    return {
        "vendor_id": values.get("machdep.cpu.vendor", ""),
        "cpu family": values["machdep.cpu.family"],
        "model": values.get("machdep.cpu.model", ""),
        "model name": brand,
        "flags": " ".join(_INTEL_WORDS.get(word, word) for word in words.lower().split()),
    }


def _is_on(values: Mapping[str, str], name: str) -> bool:
    return values.get(f"hw.optional.arm.{name}", values.get(f"hw.optional.{name}")) == "1"


def _count(values: Mapping[str, str], name: str) -> int:
    text = values.get(name, "")
    return int(text) if text.isdecimal() else 0


def _words(features: Mapping[int, str], has_feature: Callable[[int], bool]) -> str:
    return " ".join(words for number, words in features.items() if has_feature(number))


def _registry_values() -> dict[str, object]:
    """Return what the registry of Windows states of the first processor, by name."""
    values: dict[str, object] = {}
    if sys.platform == "win32":
        import winreg  # noqa: PLC0415  # exists there only

        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _PROCESSOR_KEY) as key:
            for index in range(winreg.QueryInfoKey(key)[1]):
                name, value, _ = winreg.EnumValue(key, index)
                values[name] = value
    return values


def _sysctl_text() -> str:
    """Return what macOS states of its hardware, a name and a value a line; empty where it fails."""
    try:
        return subprocess.run(
            _SYSCTL, capture_output=True, text=True, timeout=_SECONDS, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
