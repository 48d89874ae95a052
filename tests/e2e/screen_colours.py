"""Print how many pixels of the screen have each of some colours: ``screen_colours.py #rrggbb...``.

The answer is a JSON object on stdout. With ``--save FILE`` the picture is kept.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from PySide6.QtGui import QColor, QGuiApplication, QImage


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("colours", nargs="+")
    parser.add_argument("--save")
    options = parser.parse_args()
    application = QGuiApplication(sys.argv[:1])
    picture = application.primaryScreen().grabWindow(0).toImage()
    picture = picture.convertToFormat(QImage.Format.Format_RGB32)
    if options.save:
        picture.save(options.save)
    pixels = np.frombuffer(picture.constBits(), np.uint32) & 0xFFFFFF
    counts = {
        colour: int((pixels == (QColor(colour).rgb() & 0xFFFFFF)).sum())
        for colour in options.colours
    }
    print(json.dumps(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
