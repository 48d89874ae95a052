"""Pages: nothing leaves the paper, heads are repeated, and the file says what the report says."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from ctm_gui.report.compose import compose
from ctm_gui.report.flow import BOTTOM, LEFT, TOP
from ctm_gui.report.marks import (
    FAMILY,
    Box,
    Line,
    Page,
    Pages,
    PageSize,
    Text,
    Typeface,
    register_fonts,
)
from ctm_gui.report.painting import pdf_of
from ctm_gui.widgets.theme import LIGHT
from predictor.core.errors import CancelledError
from predictor.core.progress import CancelToken
from predictor.presentation.report import (
    Graph,
    GraphBox,
    Heading,
    HeatMap,
    Paragraph,
    Report,
    Section,
    SectionId,
    Table,
)
from predictor.services.report.build import build_report
from tests.support.graphs import Op
from tests.support.models import make_model
from tests.support.report_requests import (
    attending,
    fine_tuned_request,
    hostile_request,
    make_device,
    make_request,
    make_signature,
    with_intervals,
)

pytestmark = pytest.mark.slow

MISSING = [name for name in ("pdftotext", "pdffonts", "pdfinfo") if shutil.which(name) is None]
needs_poppler = pytest.mark.skipif(bool(MISSING), reason=f"{MISSING} of poppler-utils missing")


@pytest.fixture(scope="module", autouse=True)
def fonts(qapp: QApplication) -> None:
    register_fonts()


def many_targets(count: int, budget_ms: float = 1.0) -> Report:
    targets = tuple(make_device(f"Device {n}", speed=1.0 + n) for n in range(count))
    models = [make_model(Op(macs=10**9)), make_model(Op(macs=10**8))]
    request = make_request(*models, targets=targets, budget_ms=budget_ms, explain=attending)
    signatures = (make_signature(targets[0].device),)
    return build_report(with_intervals(replace(request, signatures=signatures)))


REPORTS = {
    "one operator": lambda: build_report(make_request(make_model(Op(macs=10**9)))),
    "many targets": lambda: many_targets(70),
    "hostile names": lambda: build_report(with_intervals(hostile_request())),
    "no number": lambda: build_report(make_request(targets=(make_device("Blind", metrics={}),))),
}


def lines_of(page: Page) -> list[str]:
    return [mark.text for mark in page.marks if isinstance(mark, Text)]


def edges_of(mark: Text | Box | Line, typeface: Typeface) -> tuple[float, float, float, float]:
    if isinstance(mark, Line):
        xs, ys = sorted((mark.x1, mark.x2)), sorted((mark.y1, mark.y2))
        return xs[0], ys[0], xs[1], ys[1]
    if isinstance(mark, Box):
        return mark.x, mark.y, mark.x + mark.width, mark.y + mark.height
    length = typeface.width(mark.text, mark.style)
    if mark.angle:  # it leans upward
        turn = math.radians(mark.angle)
        right, down = length * math.cos(turn), length * math.sin(turn)
        return mark.x - mark.style.size, mark.y + down, mark.x + max(right, 0.0), mark.y
    return mark.x, mark.y - mark.style.size, mark.x + length, mark.y


@pytest.mark.parametrize("size", list(PageSize))
@pytest.mark.parametrize("name", list(REPORTS))
def test_nothing_leaves_the_margins(name: str, size: PageSize) -> None:
    typeface = Typeface()
    pages = compose(REPORTS[name](), size)

    for page in pages.pages:
        for mark in page.marks:
            left, top, right, bottom = edges_of(mark, typeface)
            assert left >= LEFT - 20, mark
            assert right <= size.width - LEFT + 20, mark
            assert top >= TOP - 20, mark
            assert bottom <= size.height - BOTTOM + 300, mark


def test_no_two_texts_of_a_row_overlap() -> None:
    typeface = Typeface()
    for page in compose(REPORTS["hostile names"](), PageSize.A4).pages:
        by_line: dict[float, list[tuple[float, float]]] = {}
        for mark in page.marks:
            if isinstance(mark, Text) and not mark.angle:
                left, _, right, _ = edges_of(mark, typeface)
                by_line.setdefault(round(mark.y, 1), []).append((left, right))
        for spans in by_line.values():
            spans.sort()
            for (_, end), (start, _) in pairwise(spans):
                assert end <= start + 1


def test_the_head_of_a_table_is_on_each_of_its_pages() -> None:
    report = many_targets(70).only([SectionId.COMPARISON])
    rows = [page for page in compose(report, PageSize.A4).pages if "from specs" in lines_of(page)]

    assert len(rows) > 2
    assert all("Configuration" in lines_of(page) for page in rows)


def test_every_page_has_its_number_and_the_contents_name_them() -> None:
    report = REPORTS["one operator"]()
    pages = compose(report, PageSize.A4).pages

    for number, page in enumerate(pages, 1):
        assert f"Page {number} of {len(pages)}" in lines_of(page)
    # The contents name each section before anything else does, with the page that it begins on.
    first = lines_of(pages[0])
    for section in report.sections:
        contents = first.index(section.title)
        titled = [n for n, page in enumerate(pages, 1) if section.title in lines_of(page)[1:]]
        begins = max(titled)
        assert contents < first.index("Answer", first.index("Answer") + 1)
        assert str(begins) in first


def test_a_sections_title_stands_on_the_page_of_what_it_begins_with() -> None:
    values = ((0.5, 0.5),) * 18
    names = tuple(f"operator {number}" for number in range(18))
    heat_map = HeatMap(
        title="What is read",
        row_title="Operator",
        rows=names,
        columns=("Runtime", "Clock"),
        values=values,
    )
    headed = (Heading("A target"), Paragraph("What is shown."), heat_map)
    for lines in range(60):
        before = Section(SectionId.MODELS, "Before", (Paragraph("A line."),) * lines)
        report = Report("T", "S", "D", "P", (before, Section(SectionId.ATTENTION, "Late", headed)))
        pages = [lines_of(page) for page in compose(report, PageSize.A4).pages]
        titled = max(number for number, page in enumerate(pages) if "Late" in page)
        assert "A target" in pages[titled]


def test_a_cancel_stops_laying_out_and_writing() -> None:
    token = CancelToken()
    token.cancel()
    report = REPORTS["one operator"]()

    with pytest.raises(CancelledError):
        compose(report, PageSize.A4, token)
    with pytest.raises(CancelledError):
        pdf_of(compose(report, PageSize.A4), token)


def tool(name: str, *arguments: str) -> str:
    done = subprocess.run([name, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def write(pages: Pages, folder: Path) -> str:
    path = folder / "report.pdf"
    path.write_bytes(pdf_of(pages))
    return str(path)


@needs_poppler
@pytest.mark.parametrize(
    ("size", "points"), [(PageSize.A4, "595 x 842 pts (A4)"), (PageSize.LETTER, "612 x 792 pts")]
)
def test_the_file_has_its_size_its_pages_and_its_fonts_in_it(
    tmp_path: Path, size: PageSize, points: str
) -> None:
    pages = compose(REPORTS["one operator"](), size)
    path = write(pages, tmp_path)

    information = tool("pdfinfo", path)
    assert points in information
    assert re.search(rf"Pages: +{len(pages.pages)}\n", information)
    fonts = [line.split() for line in tool("pdffonts", path).splitlines()[2:]]
    assert {line[0].split("+")[-1] for line in fonts} == {
        FAMILY.replace(" ", ""),
        f"{FAMILY.replace(' ', '')}-Bold",
    }
    assert {line[-5] for line in fonts} == {"yes"}  # embedded


@needs_poppler
def test_the_figures_in_the_file_are_those_of_the_tables(tmp_path: Path) -> None:
    report = many_targets(12, budget_ms=100.0)
    text = tool("pdftotext", "-layout", write(compose(report, PageSize.A4), tmp_path), "-")
    # Where columns are close, pdftotext leaves blanks out.
    written = ["".join(line.split()) for line in text.splitlines()]

    tables = [
        block
        for section in report.sections
        if section.id in {SectionId.COMPARISON, SectionId.OPERATORS}
        for block in section.blocks
        if isinstance(block, Table)
    ]
    every = [row.cells for table in tables for row in table.rows]
    rows = ["".join("".join(cell.text.split()) for cell in cells) for cells in every]
    assert len(rows) == 24 + 24
    for row in rows:
        assert row in written


@needs_poppler
def test_the_file_names_the_adaptation(tmp_path: Path) -> None:
    pages = compose(build_report(fine_tuned_request()), PageSize.A4)
    text = " ".join(tool("pdftotext", "-layout", write(pages, tmp_path), "-").split())
    assert "Predictions adapted by FiLM of the network fine-tuned to it" in text


@needs_poppler
def test_hostile_names_are_text_like_any_other(tmp_path: Path) -> None:
    pages = compose(REPORTS["hostile names"](), PageSize.LETTER)
    text = tool("pdftotext", write(pages, tmp_path), "-")

    assert "<b>bold</b><script>" in text.replace("\n", "")
    assert "\u202e" not in text
    assert re.search("[\u0590-\u05ff]", text)  # letters of any script stay


@needs_poppler
def test_a_report_of_ten_thousand_operators_is_as_short(tmp_path: Path) -> None:
    huge = make_model(*[Op(macs=10**6)] * 10_000)
    pages = compose(build_report(make_request(huge)), PageSize.A4)

    assert len(pages.pages) < 8
    assert "of 10000 operators" in tool("pdftotext", write(pages, tmp_path), "-")


def chain(count: int) -> Graph:
    """Return operators below each other, the last three in a group with most of the time."""
    boxes = [
        GraphBox(
            path=f"op {n}",
            title=f"op {n}",
            detail="Conv",
            time="1 ms",
            share=0.1 / count,
            is_frame=False,
            left=16,
            top=n * 76,
            width=196,
            height=46,
        )
        for n in range(count)
    ]
    frame = GraphBox(
        path="end",
        title="end",
        detail="3 operators",
        time="9 ms",
        share=0.5,
        is_frame=True,
        left=0,
        top=count * 76,
        width=228,
        height=240,
    )
    inner = [
        GraphBox(
            path=f"end / {n}",
            title=f"in {n}",
            detail="Conv",
            time="3 ms",
            share=0.17,
            is_frame=False,
            left=16,
            top=top,
            width=196,
            height=46,
        )
        for n, top in enumerate(range(count * 76 + 26, count * 76 + 226, 76))
    ]
    edges = tuple(
        ((114.0, n * 76.0 + 46), (114.0, n * 76.0 + 46), (114.0, n * 76.0 + 76))
        for n in range(count)
    )
    return Graph((*boxes, frame, *inner), edges, 228.0, count * 76.0 + 240)


@pytest.mark.parametrize("size", list(PageSize))
@pytest.mark.parametrize("count", [2, 30, 200])
def test_a_graph_is_cut_between_its_boxes(count: int, size: PageSize) -> None:
    graph = chain(count)
    report = Report("T", "S", "D", "P", (Section(SectionId.GRAPH, "Graphs", (graph,)),))
    pages = compose(report, size).pages

    titles = [line for page in pages for line in lines_of(page) if line[:2] in {"op", "in"}]
    assert titles == [f"op {n}" for n in range(count)] + ["in 0", "in 1", "in 2"]
    assert (len(pages) > 1) == (count == 200)
    darkest = [
        mark
        for page in pages
        for mark in page.marks
        if isinstance(mark, Box) and mark.fill == LIGHT.heat[-1] and mark.outline
    ]
    assert len(darkest) == 3
    assert_within_margins(pages, size)


def assert_within_margins(pages: Sequence[Page], size: PageSize) -> None:
    typeface = Typeface()
    for page in pages:
        for mark in page.marks:
            left, top, right, bottom = edges_of(mark, typeface)
            assert LEFT - 20 <= left <= right <= size.width - LEFT + 20
            assert TOP - 20 <= top <= bottom <= size.height - BOTTOM + 300


def graph_of(lefts: Sequence[Sequence[float]]) -> Graph:
    """Return layers of operators at these places, each one joined to the first of the next."""
    boxes = [
        GraphBox(
            path=f"op {n}",
            title=f"op {n}",
            detail="Conv",
            time="1 ms",
            share=0.01,
            is_frame=False,
            left=left,
            top=76.0 * layer,
            width=196,
            height=46,
        )
        for n, (layer, left) in enumerate(
            (layer, left) for layer, places in enumerate(lefts) for left in places
        )
    ]
    edges = tuple(
        ((left + 98, y), (left + 98, y), (below[0] + 98, y + 30))
        for layer, (places, below) in enumerate(pairwise(lefts))
        for left in places
        for y in [76.0 * layer + 46]
    )
    width = max(left for places in lefts for left in places) + 196
    return Graph(tuple(boxes), edges, width, 76.0 * len(lefts) - 30)


@pytest.mark.parametrize("size", list(PageSize))
def test_a_narrow_part_of_a_graph_stands_beside_a_wide_one(size: PageSize) -> None:
    graph = graph_of([[0.0, 220.0, 440.0]] * 4 + [[220.0]] * 20)
    report = Report("T", "S", "D", "P", (Section(SectionId.GRAPH, "Graphs", (graph,)),))

    pages = compose(report, size).pages

    assert len(pages) == 1
    titles = [mark for mark in pages[0].marks if isinstance(mark, Text) and mark.text[:2] == "op"]
    assert [mark.text for mark in titles] == [f"op {n}" for n in range(32)]
    # The chain goes on at the right of the fork's three columns.
    assert len({round(mark.x) for mark in titles}) == 4
    assert max(mark.y for mark in titles) > size.height / 2
    assert_within_margins(pages, size)


@pytest.mark.parametrize("size", list(PageSize))
def test_a_graph_much_wider_than_the_page_is_turned(size: PageSize) -> None:
    graph = graph_of([[220.0 * place for place in range(9)]] * 5)
    report = Report("T", "S", "D", "P", (Section(SectionId.GRAPH, "Graphs", (graph,)),))

    pages = compose(report, size).pages

    titles = [
        mark
        for page in pages
        for mark in page.marks
        if isinstance(mark, Text) and mark.text[:2] == "op"
    ]
    assert len(titles) == 45
    assert {mark.angle for mark in titles} == {-90.0}
    # Read from the left side of the page: the first operator begins lowest.
    assert titles[0].y == max(mark.y for mark in titles)
    assert titles[0].x == min(mark.x for mark in titles)
    upright = (size.width - 2 * LEFT) / graph.width
    assert titles[0].style.size > 1.15 * 13 * upright
    assert_within_margins(pages, size)
