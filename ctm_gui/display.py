"""Whether a window can be opened at all; found out before Qt ends the process with a signal.

Standard library only: it runs before Qt is loaded.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

# What Qt's plugin for X loads. Qt names the first of them whichever one is missing.
_XCB = "libxcb.so.1"
X_LIBRARIES = (
    _XCB,
    "libX11-xcb.so.1",
    "libxcb-cursor.so.0",
    "libxcb-icccm.so.4",
    "libxcb-image.so.0",
    "libxcb-keysyms.so.1",
    "libxcb-randr.so.0",
    "libxcb-render-util.so.0",
    "libxcb-shape.so.0",
    "libxcb-xkb.so.1",
    "libxkbcommon-x11.so.0",
)
_TIMEOUT_S = 3.0
_OTHER_PLATFORMS = ("offscreen", "minimal", "vnc", "eglfs", "linuxfb")


def display_problem(environment: Mapping[str, str] = os.environ) -> str:
    """Return why no window can be opened, in one sentence; empty where one can.

    Args:
        environment: the variables that state where the display is.
    """
    platform = environment.get("QT_QPA_PLATFORM", "").split(":")[0]
    if not sys.platform.startswith("linux") or platform in _OTHER_PLATFORMS:
        return ""
    return "" if _wayland_answers(environment) else _x_problem(environment.get("DISPLAY", ""))


def _x_problem(display: str) -> str:
    if not display:
        return (
            "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set; start from a desktop "
            "session, or use `ctm predict` without a window."
        )
    missing = [name for name in X_LIBRARIES if not _loads(name)]
    if missing:
        return (
            f"Qt needs system libraries that are missing: {', '.join(missing)}; install them (on "
            "Debian and Ubuntu: sudo apt-get install libxcb-cursor0 libxcb-icccm4 libxcb-image0 "
            "libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 "
            "libxkbcommon-x11-0)."
        )
    if not _x_answers(display):
        return (
            f"The display {display} does not answer; check DISPLAY, or use `ctm predict` without "
            "a window."
        )
    return ""


def _wayland_answers(environment: Mapping[str, str]) -> bool:
    name = environment.get("WAYLAND_DISPLAY", "")
    if not name:
        return False
    # An absolute WAYLAND_DISPLAY replaces the folder, in Path as in libwayland.
    path = Path(environment.get("XDG_RUNTIME_DIR", "/nonexistent"), name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_TIMEOUT_S)
        try:
            connection.connect(str(path))
        except OSError:
            return False
        return True


def _x_answers(display: str) -> bool:
    """Whether an X server lets this user in."""
    xcb = ctypes.CDLL(_XCB)
    # ctypes takes a result for a C int, which would cut the pointer to 32 bits.
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode(), None))
    # xcb_connect never returns NULL; a failed connection too must be released.
    refused: int = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not refused


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
