"""Kind of a device, until the catalogue states it."""

from __future__ import annotations

from predictor.core.metrics import Family
from predictor.core.records import Device

_ARM = ("arm", "cortex", "kryo", "apple", "ampere", "graviton", "cobalt", "phytium", "kunpeng")


def kind(device: Device) -> str:
    """Return the kind of a device, by its family and maker."""
    if device.family is Family.CPU:
        name = f"{device.name} {device.vendor} {device.notes}".lower()
        if device.vendor in {"Intel", "AMD"}:
            return "x86"
        return "arm" if any(word in name for word in _ARM) else "other"
    if device.family is Family.MOBILE_CPU:
        return "arm"
    if device.family is Family.GPU:
        return {"NVIDIA": "nvidia", "AMD": "amd-gpu", "Intel": "intel-gpu"}.get(
            device.vendor, "apple-gpu"
        )
    return {
        Family.MOBILE_GPU: "mobile-gpu",
        Family.NPU: "npu",
        Family.ASIC: "npu",
        Family.FPGA: "fpga",
        Family.MCU: "mcu",
    }[device.family]
