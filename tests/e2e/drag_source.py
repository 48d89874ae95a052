"""A second program to drag files from: a small window over the top left corner of the screen.

    python drag_source.py FILE...

It says on stdout what happens: ``ready`` when it can be grabbed, ``over ACTION`` when what is under
the pointer would take the files or no more, ``ended ACTION`` when the drag is over.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTimer, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel

WIDTH, HEIGHT = 160, 60


def say(text: str) -> None:
    print(text, flush=True)


class Source(QLabel):
    """A label that gives its files to the first drag."""

    def __init__(self, files: list[str]) -> None:
        super().__init__("drag me")
        self._files = files
        self.setWindowFlags(Qt.WindowType.FramelessWindowHint)
        self.setGeometry(0, 0, WIDTH, HEIGHT)

    def mouseMoveEvent(self, _: QMouseEvent) -> None:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(Path(name).resolve())) for name in self._files])
        drag = QDrag(self)
        drag.setMimeData(mime)
        drag.actionChanged.connect(lambda action: say(f"over {action.name}"))
        ended = drag.exec(Qt.DropAction.CopyAction)
        say(f"ended {ended.name}")


def main() -> int:
    application = QApplication(sys.argv[:1])
    source = Source(sys.argv[1:])
    source.show()
    QTimer.singleShot(0, lambda: say("ready"))
    return application.exec()


if __name__ == "__main__":
    sys.exit(main())
