"""Draw the program's icon in the forms and sizes that desktops want, from the one SVG file.

python packaging/icons.py FOLDER
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from contents import ROOT
from destination import destination

SVG = ROOT / "resources" / "icons" / "closertome.svg"
PNG_SIZES = (16, 32, 48, 64, 128, 256)


def write_icons(folder: Path) -> None:
    """Write closertome.svg, a PNG of each size, and the icon files of Windows and macOS.

    Raises:
        OSError: Qt cannot write one of them.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtGui import QGuiApplication, QIcon  # noqa: PLC0415  # after the platform is set

    folder.mkdir(parents=True, exist_ok=True)
    # Pixmaps need an application for as long as they are drawn.
    _application = QGuiApplication.instance() or QGuiApplication(sys.argv[:1])
    icon = QIcon(str(SVG))
    shutil.copyfile(SVG, folder / "closertome.svg")
    targets = {f"closertome-{size}.png": size for size in PNG_SIZES}
    targets |= {"closertome.ico": 256, "closertome.icns": 256}
    for name, size in targets.items():
        if not icon.pixmap(size, size).save(str(folder / name)):
            raise OSError(f"Qt cannot write {folder / name}")


if __name__ == "__main__":
    write_icons(destination(__doc__))
