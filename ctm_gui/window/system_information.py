"""Facts on the program and its machine for a report of a problem."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
from PySide6.QtCore import QLocale
from PySide6.QtGui import QGuiApplication

from predictor import __version__
from predictor.core.units import format_bytes

_PACKAGES = ("PySide6-Essentials", "pyqtgraph", "numpy", "onnx", "onnxruntime", "sqlite-utils")
_VARIABLES = (
    "CTM_",
    "QT_",
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
    "WAYLAND_DISPLAY",
    "DISPLAY",
)


def versions() -> str:
    """Return one line a component: ours, Python, the system, the libraries."""
    lines = [
        f"CloserToMe {__version__}",
        f"Python {platform.python_version()}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
    ]
    for package in _PACKAGES:
        try:
            lines.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            lines.append(f"{package} unknown")
    return "\n".join(lines)


def system_information(more: Mapping[str, str]) -> str:
    """Return versions, screens, memory and settings, one fact a line.

    The user's folder is written ``~``: a copy holds no name of a user.

    Args:
        more: the window's own facts, by name.
    """
    lines = [
        versions(),
        f"Processors: {os.cpu_count()}",
        f"Memory: {format_bytes(psutil.virtual_memory().total)}",
        f"Locale: {QLocale.system().name()}",
        f"Qt platform: {QGuiApplication.platformName()}",
        *(f"Screen {number}: {words}" for number, words in enumerate(_screens(), start=1)),
        *(f"{name}: {words}" for name, words in more.items()),
        *(f"{name}={value}" for name, value in _variables(os.environ)),
    ]
    return "\n".join(lines).replace(str(Path.home()), "~")


def _screens() -> list[str]:
    return [
        f"{screen.size().width()} × {screen.size().height()} at {screen.devicePixelRatio():g}, "
        f"{screen.logicalDotsPerInch():.0f} dots an inch"
        for screen in QGuiApplication.screens()
    ]


def _variables(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(pair for pair in environment.items() if pair[0].startswith(_VARIABLES))
