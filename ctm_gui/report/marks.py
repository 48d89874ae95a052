"""Marks on pages. All lengths are tenths of a point: 1/720 of an inch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

UNITS_PER_INCH = 720


class PageSize(Enum):
    """Paper: its name, width and height."""

    A4 = ("A4", 5953.0, 8419.0)
    LETTER = ("Letter", 6120.0, 7920.0)

    def __init__(self, label: str, width: float, height: float) -> None:
        self.label = label
        self.width = width
        self.height = height


@dataclass(frozen=True, slots=True)
class Style:
    """Height of a text's letters, and their weight."""

    size: int
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text from (x, y) on, y being its base line; ``upward`` turns it by 90 degrees."""

    x: float
    y: float
    text: str
    style: Style
    colour: str
    upward: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; an empty colour leaves its area or its outline out."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    outline: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    thickness: float = 5.0
    dashed: bool = False


Mark = Text | Box | Line


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its marks in the order of painting."""

    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Pages:
    """A report that is laid out.

    Attributes:
        title: of the document.
        size: of every page.
        pages: at least one.
    """

    title: str
    size: PageSize
    pages: tuple[Page, ...]
