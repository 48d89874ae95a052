"""The models that ship, in words: what a first user can try."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from predictor.core.resources import resources_dir


@dataclass(frozen=True, slots=True)
class Sample:
    """A shipped model.

    Attributes:
        path: its file.
        title: its usual name.
        words: what it is for, in a few words.
    """

    path: Path
    title: str
    words: str


_WORDS = {
    "mobilenetv2-1.0-224": ("MobileNetV2", "classifies images of 224 × 224; light, for phones"),
    "yolov3-tiny-416": ("YOLOv3-tiny", "finds objects in images of 416 × 416"),
    "distilbert-base": ("DistilBERT", "reads text; batch and length are open and can be set"),
}


def samples() -> list[Sample]:
    """Return the shipped models, the lightest first."""
    folder = resources_dir() / "samples"
    return [
        Sample(folder / f"{name}.onnx", title, words) for name, (title, words) in _WORDS.items()
    ]
