"""Contact sheets: all pictures of a tour in one size and theme, small, beside each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from predictor.core.errors import HostError

_COLUMNS, _WIDTH, _CAPTION, _GAP = 6, 300, 18, 8
_QUALITY = 45  # of JPEG: a sheet has about 300 kB
_PAPER, _INK = QColor("#d8dbe0"), QColor("#1c1f24")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a scene.

    Attributes:
        scene: its name.
        theme: in which it was taken.
        size: the window's, in pixels, for people.
        path: the file.
    """

    scene: str
    theme: str
    size: str
    path: Path


def write_sheets(pictures: Sequence[Picture], folder: Path, title: str) -> list[Path]:
    """Write a sheet for each size and theme, and a page that shows them.

    Args:
        pictures: in the order of their scenes.
        folder: where the page goes; the sheets go into a folder of its name beside it.
        title: name of the page, without ending.

    Returns:
        The sheets.

    Raises:
        HostError: a sheet cannot be written.
    """
    groups: dict[tuple[str, str], list[Picture]] = defaultdict(list)
    for picture in pictures:
        groups[picture.size, picture.theme].append(picture)
    (folder / title).mkdir(parents=True, exist_ok=True)
    paths = []
    for (size, theme), group in groups.items():
        path = folder / title / f"{size}-{theme}.jpg"
        if not _sheet(group).save(str(path), quality=_QUALITY):
            raise HostError(str(path), "the sheet cannot be written", "choose another folder")
        paths.append(path)
    lines = [f"![{path.stem.replace('-', ', ')}]({title}/{path.name})" for path in paths]
    (folder / f"{title}.md").write_text(_PAGE + "\n\n".join(lines) + "\n", encoding="utf-8")
    return paths


def _sheet(pictures: Sequence[Picture]) -> QImage:
    cells = [QImage(str(picture.path)) for picture in pictures]
    smooth = Qt.TransformationMode.SmoothTransformation
    cells = [c.scaledToWidth(_WIDTH, smooth) if c.width() > _WIDTH else c for c in cells]
    rows = [range(at, min(at + _COLUMNS, len(cells))) for at in range(0, len(cells), _COLUMNS)]
    heights = [max(cells[place].height() for place in row) + _CAPTION + _GAP for row in rows]
    size = (_COLUMNS * (_WIDTH + _GAP) + _GAP, sum(heights) + _GAP)
    sheet = QImage(*size, QImage.Format.Format_RGB32)
    sheet.fill(_PAPER)
    painter = QPainter(sheet)
    painter.setFont(QFont(painter.font().family(), 8))
    painter.setPen(_INK)
    top = _GAP
    for row, height in zip(rows, heights, strict=True):
        for column, place in enumerate(row):
            corner = QPoint(_GAP + column * (_WIDTH + _GAP), top)
            caption = QRect(corner.x(), corner.y(), _WIDTH, _CAPTION)
            painter.drawText(caption, Qt.AlignmentFlag.AlignVCenter, pictures[place].scene)
            painter.drawImage(corner + QPoint(0, _CAPTION), cells[place])
        top += height
    painter.end()
    return sheet


_PAGE = """\
# Every view of the window

Written by `python packaging/tour --sheet docs/results`: the scenes of the tour with the bundled
models, light and dark, at 1024 x 700, at 1280 x 800, and on a 4K screen at scale 2. Small dialogs
keep their own size. `python packaging/tour DIR` saves each picture in full.

"""
