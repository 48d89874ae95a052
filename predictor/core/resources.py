"""Where the files that ship with the program are."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def resources_dir() -> Path:
    """Return the folder of shipped resources: the installed package's, else the checkout's."""
    installed = _PACKAGE / "resources"
    return installed if installed.is_dir() else _PACKAGE.parent / "resources"


def help_dir() -> Path:
    """Return the folder of help pages: the installed package's, else the checkout's."""
    installed = _PACKAGE / "resources"
    return (installed if installed.is_dir() else _PACKAGE.parent / "docs") / "help"
