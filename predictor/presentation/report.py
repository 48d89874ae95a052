"""A report as data: sections of headings, paragraphs, tables, charts and heat maps.

It knows no format: PDF, Markdown and JSON are written from the same record, so they say the same.
Every text in it is printable; names from files are escaped and shortened before they get here.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from predictor.presentation.wording import percent

# On a linear axis, bars shorter than a fiftieth of the longest are hardly seen.
LINEAR_SPAN: Final = 50.0
# A budget further out than this many times the longest bar would squeeze all bars.
BUDGET_REACH: Final = 3.0


class SectionId(StrEnum):
    """The sections of a report, in their order."""

    SUMMARY = "summary"
    WHY = "why"
    COMPARISON = "comparison"
    LANGUAGE = "language"
    LOAD = "load"
    MODELS = "models"
    OPERATORS = "operators"
    ATTENTION = "attention"
    ROOFLINE = "roofline"
    TIMELINE = "timeline"
    GRAPH = "graph"
    MATRIX = "matrix"
    DEVICES = "devices"
    PROBING = "probing"
    SETTINGS = "settings"
    METHODS = "methods"
    VERSIONS = "versions"


# Four pages for three models on nine targets; the other sections are appendices.
USUAL_SECTIONS: Final = (
    SectionId.SUMMARY,
    SectionId.WHY,
    SectionId.COMPARISON,
    SectionId.LANGUAGE,
    SectionId.LOAD,
)
APPENDICES: Final = tuple(section for section in SectionId if section not in USUAL_SECTIONS)


class Tone(StrEnum):
    """Judgement of a text; a writer may show it by colour, never by colour alone."""

    PLAIN = "plain"
    MUTED = "muted"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, with the value that it was written from where it is a figure.

    Attributes:
        text: the cell's text.
        value: the number behind it, in the unit of its column; None for words.
        tone: judgement of the text.
    """

    text: str
    value: float | None = None
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: a stable key, its title, and whether it holds figures."""

    key: str
    title: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One cell a column, and a remark on the whole row that stands below it."""

    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head that is repeated on every page."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """Begins a part of a section; a detail stands beside it in smaller letters."""

    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    items: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values, one a line."""

    rows: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class Commands:
    """Lines to be typed into a shell."""

    lines: tuple[str, ...]


class Limit(StrEnum):
    """The side that the truth may lie on from a value that is only a limit of it."""

    NONE = ""
    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A figure of a chart; every number is in the chart's unit, None where there is none.

    Attributes:
        label: its subject.
        detail: more on that, in smaller letters.
        series: index of its series.
        value: its length; None for a bar that is only words.
        text: the value in words, or why there is none.
        is_configuration: whether ``detail`` is how a target runs, which stands in a frame.
        limit: whether the value is only a limit.
        over: whether it is on the wrong side of the budget.
        low80, high80, low95, high95: intervals, the smaller end first.
        bound: the limit that nothing passes.
    """

    label: str
    detail: str
    series: int
    value: float | None
    text: str
    over: bool = False
    low80: float | None = None
    high80: float | None = None
    low95: float | None = None
    high95: float | None = None
    bound: float | None = None
    is_configuration: bool = False
    limit: Limit = Limit.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """Horizontal bars; those with the same label and detail in a row belong together.

    Attributes:
        axis: title of the axis, with the unit.
        series: names of the series, one where the chart has only one.
        bars: from the top down.
        logarithmic: whether the axis is.
        budget: where the budget's line stands, None without one.
        budget_text: label of that line.
        note: a guide to reading it.
    """

    axis: str
    series: tuple[str, ...]
    bars: tuple[Bar, ...]
    logarithmic: bool = False
    budget: float | None = None
    budget_text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """A matrix of shares in colours, each cell with its percentage or a text of its own.

    Attributes:
        title: its message, in a line.
        row_title: title of the rows.
        rows: R labels.
        columns: C labels.
        values: R rows of C shares, 0 to 1.
        texts: R rows of C texts in the cells; without them these are percentages.
    """

    title: str
    row_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    texts: tuple[tuple[str, ...], ...] = ()

    def cells(self) -> tuple[tuple[str, ...], ...]:
        """Return the texts of the cells, R rows of C."""
        if self.texts:
            return self.texts
        return tuple(tuple(percent(round(v, 3), 2) for v in row) for row in self.values)


@dataclass(frozen=True, slots=True)
class RoofMark:
    """A roof: FLOP/s of arithmetic, or bytes a second of a memory, which slopes.

    ``counted`` is what its rate counts: ``FLOP``, ``OP`` of integers, or ``B``.
    """

    label: str
    rate: float
    is_memory: bool
    is_measured: bool
    counted: str


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """An operator under the roofs.

    Attributes:
        intensity: FLOPs a byte, over 0.
        flops_per_s: reached, over 0.
        share: of the latency, 0 to 1.
        series: index of what binds it.
    """

    intensity: float
    flops_per_s: float
    share: float
    series: int


@dataclass(frozen=True, slots=True)
class RooflineChart:
    """Operators under the roofs of a target, on logarithmic axes.

    Attributes:
        series: names of what binds.
        roofs: memories first.
        points: those that multiply, the slowest first.
        operation: what the axes count, ``FLOP`` or ``OP``.
        note: a guide to reading it.
    """

    series: tuple[str, ...]
    roofs: tuple[RoofMark, ...]
    points: tuple[RooflinePoint, ...]
    operation: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a lane: from, to, its name, and the series whose colour it has; None for none."""

    start: float
    end: float
    label: str
    series: int | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """Pieces in a line, by their start."""

    name: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Lanes over one axis of time, which begins at 0.

    Attributes:
        series: names of the colours.
        lanes: from the top down.
        total: end of the axis.
        axis: its unit.
    """

    series: tuple[str, ...]
    lanes: tuple[Lane, ...]
    total: float
    axis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphBox:
    """An operator, or a group of them.

    Attributes:
        path: its name with those of the groups around it.
        title: its name within its group.
        detail: its type, or how many operators it has.
        time: its latency and the part of the model's.
        share: the part of the model's latency, 0 to 1.
        is_frame: whether what is in it is drawn too, within its sides.
        left, top, width, height: in pixels of the window at scale 1.
    """

    path: str
    title: str
    detail: str
    time: str
    share: float
    is_frame: bool
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Graph:
    """Operators and groups as boxes, data flowing down.

    Attributes:
        boxes: a frame before what is in it.
        edges: x, y of the points of each line; it passes a layer straight down from an even one,
            counted from 0, to the next, and bends between layers.
        width, height: of all.
    """

    boxes: tuple[GraphBox, ...]
    edges: tuple[tuple[tuple[float, float], ...], ...]
    width: float
    height: float

    @property
    def largest(self) -> float:
        """The largest share of a box that is no frame, over 0: that of the darkest colour."""
        return max((box.share for box in self.boxes if not box.is_frame), default=0.0) or 1.0


Block = (
    Heading
    | Paragraph
    | Bullets
    | Facts
    | Commands
    | Table
    | BarChart
    | HeatMap
    | RooflineChart
    | Timeline
    | Graph
)


@dataclass(frozen=True, slots=True)
class Section:
    """A section with its title and its blocks, from the top down."""

    id: SectionId
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report.

    Attributes:
        title: its subject.
        subtitle: the same in more words.
        created: when it was made, ISO 8601 with the zone.
        program: name and version of the program that made it.
        sections: those that have something to say.
    """

    title: str
    subtitle: str
    created: str
    program: str
    sections: tuple[Section, ...]

    def only(self, chosen: Collection[SectionId]) -> Report:
        """Return the report with the chosen sections alone, in their order."""
        return replace(self, sections=tuple(s for s in self.sections if s.id in chosen))
