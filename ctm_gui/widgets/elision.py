"""Names that are too long: the parts that distinguish neighbours stay."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF

_ELLIPSIS = "…"


def elided_path(metrics: QFontMetrics | QFontMetricsF, text: str, width: float) -> str:
    """Return the path of an operator in a width: its first numbered part and its end.

    Blocks that repeat differ in their numbers, operators of a block at their ends:
    ``/encoder/layer.3/attention/self/query/MatMul`` becomes ``…layer.3/…self/query/MatMul``. Where
    the numbered part takes more than half of the width, or there is none, the end alone stays.

    Args:
        metrics: of the font.
        text: parts joined by slashes, or by dots where there is no slash.
        width: pixels.
    """
    if metrics.horizontalAdvance(text) <= width:
        return text
    separator = "/" if "/" in text else "."
    parts = text.split(separator)
    for at, part in enumerate(parts[:-1]):
        # Of layer2/layer2.0 the second says both.
        if not any(map(str.isdigit, part)) or parts[at + 1].startswith(part):
            continue
        before = _ELLIPSIS if any(parts[:at]) else separator.join(parts[:at])
        head = f"{before}{part}{separator}"
        head_px = metrics.horizontalAdvance(head)
        if head_px > width / 2:
            break
        return head + _end(metrics, separator.join(parts[at + 1 :]), width - head_px)
    return _end(metrics, text, width)


def _end(metrics: QFontMetrics | QFontMetricsF, text: str, width: float) -> str:
    # Whole pixels: a QFontMetrics takes nothing else.
    return metrics.elidedText(text, Qt.TextElideMode.ElideLeft, int(width))


def elided_distinct(
    metrics: QFontMetricsF, names: Sequence[str], widths: Sequence[float]
) -> list[str]:
    """Return names in their widths, cut at the end, or in the middle where ends distinguish them.

    Args:
        metrics: of the font.
        names: that stand beside one another.
        widths: pixels of each.
    """
    cut: list[str] = []
    for side in (Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle):
        cut = [metrics.elidedText(n, side, w) for n, w in zip(names, widths, strict=True)]
        if len(set(cut)) == len(set(names)):
            break
    return cut
