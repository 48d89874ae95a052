"""Goals and moonshots of the figures, by class and setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from predictor.services.measurements.track_record import SAME_CHIP, UNSEEN

LEAST_SILICON: Final = 8
"""Kinds of silicon under which a class has no goal."""

LEAST_USED: Final = (70.0, 90.0)
"""Shares of a class's published rows and devices in percent, under which reasons are told."""

RATIO: Final = 1.05
"""Largest bound of an error over that of the class estimate."""

COVERAGE: Final = (75.0, 87.0)
"""Share of measurements in their 80 % interval, in percent."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Figure of a class to reach, in percent."""

    goal: float
    moonshot: float


_MEASURED: Final = {"k=3": Goal(13, 9), "k=8": Goal(9, 6)}
_PROCESSORS: Final = {
    "x86": ("onnxruntime", "openvino", "pytorch"),
    "arm": ("tflite", "ncnn", "armnn", "pytorch-mobile"),
}
_GPUS: Final = ("tensorrt", "pytorch")


def goal_of(kind: str, runtime: str, setting: str) -> Goal | None:
    """Return the goal of a class with enough silicon; None where none was set.

    Args:
        kind: of device, as in :mod:`predictor.devices.architectures`.
        runtime: of the class.
        setting: ``UNSEEN``, ``SAME_CHIP``, ``k=3`` or ``k=8``.
    """
    if setting in _MEASURED:
        return _MEASURED[setting]
    if runtime in _PROCESSORS.get(kind, ()):
        return {UNSEEN: Goal(30, 18), SAME_CHIP: Goal(18, 12)}.get(setting)
    if setting == UNSEEN and kind == "nvidia" and runtime in _GPUS:
        return Goal(25, 12)
    if setting == UNSEEN and kind == "npu":
        return Goal(45, 30)
    return None
