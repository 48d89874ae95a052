"""The scenes whose pictures stand in the README and in the pages of help: one real answer."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QDialog
from scenes import Scene, sample_models, show_graph, show_learned, show_load, show_report
from waiting import wait

from ctm_gui.application import Application

_MODEL = "yolov3-tiny-416.onnx"
_TARGETS = ("rpi5", "rk3588-cpu", "jetson-orin-nano-gpu", "rtx3060", "snapdragon-8-gen-3")
_EXPLAINED = "jetson-orin-nano-gpu"
_BUDGET_MS = 33.0  # 30 frames a second


def _compare(app: Application, _: Path) -> None:
    selection = app.workspace.selection
    selection.select([device.id for device in selection.devices], selected=False)
    selection.select(_TARGETS, selected=True)
    app.window.open_paths([str(path) for path in sample_models() if path.name == _MODEL])
    app.window.show_page("compare")
    app.window.central.compare_view.budget_box.budget_edited.emit(_BUDGET_MS)


def _operators(app: Application, _: Path) -> None:
    _explain(app, "operators")


def _graph(app: Application, folder: Path) -> None:
    _explain(app, "graph")
    show_graph(app, folder)


def _roofline(app: Application, _: Path) -> None:
    _explain(app, "roofline")


def _timeline(app: Application, _: Path) -> None:
    _explain(app, "timeline")


def _attention(app: Application, _: Path) -> None:
    _explain(app, "attention")


def _learned(app: Application, _: Path) -> None:
    show_learned(app)


def _explain(app: Application, page: str) -> None:
    app.window.show_page(page)
    explanation = app.window.central.explanation
    explanation.choose_device(_EXPLAINED)
    wait(lambda: explanation.settled)


HELP_SCENES = (
    Scene("compare", _compare, in_help=True),
    Scene("operators", _operators, in_help=True),
    Scene("graph", _graph, in_help=True),
    Scene("roofline", _roofline, in_help=True),
    Scene("timeline", _timeline, in_help=True),
    Scene("attention", _attention, in_help=True),
    Scene("learned", _learned, in_help=True),
    Scene("load", show_load, in_help=True),
    Scene("report", show_report, of=QDialog, sized=False, in_help=True),
)
