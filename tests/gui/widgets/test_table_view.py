"""What every table of the window does."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from ctm_gui.widgets.grid import Column, Grid, number_column, text_column
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.table_view import GridView, copy_button
from ctm_gui.widgets.theme import LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from ctm_gui.widgets.tooltips import as_tooltip


def make_grid(count: int, columns: int = 3, text: str = "cell") -> Grid:
    return Grid(
        count,
        [
            Column(
                key=f"c{i}",
                title=f"Column {i}",
                text=lambda row: f"{text} {row}",
                numeric=i == 2,
                sort_keys=lambda: np.arange(count, dtype=np.float64),
                help="What it is." if i == 0 else "",
            )
            for i in range(columns)
        ],
    )


@pytest.fixture
def table(qtbot) -> GridView:
    view = GridView(GridModel(make_grid(50)), "Things")
    qtbot.addWidget(view)
    view.resize(500, 300)
    with qtbot.waitExposed(view):
        view.show()
    return view


@pytest.mark.parametrize("theme", [None, LIGHT])
def test_a_last_column_of_numbers_stays_beside_the_others_and_one_of_text_takes_the_rest(
    qapp, table, theme
):
    if theme is not None:
        apply_theme(qapp, theme)
    table.resize(900, 300)
    table.fit_columns()
    assert sum(map(table.columnWidth, range(3))) < table.viewport().width() // 2
    for width in range(540, 560):
        table.model().replace(make_grid(50, text="a text that is pressed together"))
        table.resize(width, 300)
        table.fit_columns()
        assert sum(map(table.columnWidth, range(3))) <= table.viewport().width()
    table.model().replace(make_grid(50, columns=2))
    table.fit_columns()
    room = table.horizontalHeader().viewport()  # a style sheet leaves it less than the header has
    assert sum(map(table.columnWidth, range(2))) == room.width()


def test_the_model_passes_qts_own_checks(qtmodeltester, table):
    qtmodeltester.check(table.model())


def test_titles_help_and_sides_reach_the_header(table):
    model = table.model()
    horizontal = Qt.Orientation.Horizontal
    assert model.headerData(0, horizontal) == "Column 0"
    assert model.headerData(0, horizontal, Qt.ItemDataRole.ToolTipRole) == "What it is."
    assert model.headerData(1, horizontal, Qt.ItemDataRole.ToolTipRole) is None
    right = model.headerData(2, horizontal, Qt.ItemDataRole.TextAlignmentRole)
    assert right & Qt.AlignmentFlag.AlignRight.value


def test_rows_are_told_when_the_selection_changes(table):
    told = []
    table.rows_selected.connect(lambda rows, current: told.append((rows.tolist(), current)))
    # A click says which keys are held; selectRow() goes by what earlier simulated keys left held.
    place = table.visualRect(table.model().index(4, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert told[-1] == ([4], 4)
    table.clearSelection()
    assert told[-1] == ([], 4)


def test_wide_text_gives_way_to_numbers(qtbot):
    view = GridView(
        GridModel(make_grid(10, text="a rather long text that would fill a window")), "T"
    )
    qtbot.addWidget(view)
    view.resize(700, 300)
    with qtbot.waitExposed(view):
        view.show()
    assert view.columnWidth(0) == view.columnWidth(1)
    assert view.columnWidth(0) >= 140
    assert view.columnWidth(0) + view.columnWidth(1) < 2 * view.columnWidth(2)


def test_a_wide_table_that_scrolls_all_the_same_leaves_texts_their_width(qtbot):
    text = "a rather long text that says it all at its end, which is far away"
    view = GridView(GridModel(make_grid(10, columns=14, text=text)), "T")
    qtbot.addWidget(view)
    view.resize(800, 300)
    with qtbot.waitExposed(view):
        view.show()
    assert view.columnWidth(0) == 140
    view.resize(1000, 300)
    assert view.columnWidth(0) == int(0.3 * view.viewport().width())


def test_the_first_rows_are_among_those_that_are_measured(qtbot):
    grid = make_grid(1000, columns=2)
    long = Column(key="c0", title="A", text=lambda row: "w" * 30 if row == 1 else "w")
    view = GridView(GridModel(Grid(1000, [long, grid.columns[1]])), "T")
    qtbot.addWidget(view)
    view.resize(700, 300)
    with qtbot.waitExposed(view):
        view.show()
    assert view.columnWidth(0) > view.fontMetrics().horizontalAdvance("w" * 30)


def test_widths_that_the_user_set_stay(table):
    header = table.horizontalHeader()
    edge = QPoint(header.sectionViewportPosition(1) - 1, header.height() // 2)
    before = table.columnWidth(0)
    QTest.mousePress(header.viewport(), Qt.MouseButton.LeftButton, pos=edge)
    QTest.mouseMove(header.viewport(), edge + QPoint(40, 0))
    QTest.mouseRelease(header.viewport(), Qt.MouseButton.LeftButton, pos=edge + QPoint(40, 0))
    assert table.columnWidth(0) == before + 40
    table.resize(900, 300)
    table.fit_columns()
    assert table.columnWidth(0) == before + 40


def test_other_columns_are_fitted_anew_after_a_last_one_of_text_took_the_rest(qtbot):
    view = GridView(GridModel(make_grid(5, columns=4)), "Things")
    qtbot.addWidget(view)
    view.resize(1200, 300)
    with qtbot.waitExposed(view):
        view.show()
    view.fit_columns()
    view.model().replace(make_grid(5, columns=6))
    view.fit_columns()
    widths = [view.columnWidth(number) for number in range(5)]
    assert max(widths) < 1.2 * min(widths)


def test_a_hidden_column_gives_its_room_to_the_others_and_takes_it_back(qtbot):
    view = GridView(GridModel(make_grid(10, text="a rather long text")), "T")
    qtbot.addWidget(view)
    view.resize(420, 300)
    with qtbot.waitExposed(view):
        view.show()
    before = [view.columnWidth(i) for i in range(3)]
    assert view.set_columns_visible({"c1": False})
    assert view.columnWidth(1) == 0
    assert view.set_columns_visible({"c1": True, "c0": True})
    assert not view.set_columns_visible({"c1": True})
    assert [view.columnWidth(i) for i in range(3)] == before


def test_a_column_without_a_cell_is_hidden_until_it_has_one(qtbot):
    view = GridView(GridModel(number_grid([None, None])), "T")
    qtbot.addWidget(view)
    view.hide_empty_columns("a", "b")
    assert [view.isColumnHidden(place) for place in range(2)] == [False, True]
    view.show_grid(number_grid([None, 2.5]))
    view.hide_empty_columns("a", "b")
    assert not view.isColumnHidden(1)


def number_grid(values: list[float | None]) -> Grid:
    return Grid(2, [text_column("a", "A", ["x", "y"]), number_column("b", "B", values)])


def test_typing_in_a_table_moves_nothing(table):
    table.selectRow(7)
    table.setFocus()
    QTest.keyClicks(table, "cell 3")
    assert table.current_row() == 7


def test_a_third_click_on_a_header_restores_the_order_of_the_data(table):
    header = table.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(0) + 20, header.height() // 2)
    first = []
    for _ in range(3):
        QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
        first.append(table.model().index(0, 0).data())
    assert first == ["cell 0", "cell 49", "cell 0"]
    assert table.model().grid.sort_column is None


def test_the_context_menu_offers_both_copies(table):
    menu = table.copy_menu()
    assert [action.text() for action in menu.actions()] == ["Copy as CSV", "Copy as Markdown"]
    menu.deleteLater()


def test_the_copy_button_offers_both_copies(qtbot, table):
    button = copy_button(table)
    qtbot.addWidget(button)
    assert [action.text() for action in button.actions()] == ["Copy as CSV", "Copy as Markdown"]


def test_a_tooltip_shows_markup_as_it_is_written():
    assert "<b>" not in as_tooltip("<b>bold</b> & more")
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in as_tooltip("<b>bold</b> & more")


@pytest.mark.parametrize("way", ["csv", "markdown"])
def test_many_rows_are_copied_in_pieces_that_make_the_whole(qtbot, way):
    grid = make_grid(3500)
    view = GridView(GridModel(grid), "Things")
    qtbot.addWidget(view)
    QGuiApplication.clipboard().setText("before")
    {"csv": view.copy_as_csv, "markdown": view.copy_as_markdown}[way]()
    assert QGuiApplication.clipboard().text() == "before", "not all at once"
    whole = {"csv": grid.as_csv, "markdown": grid.as_markdown}[way](range(3500))
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() == whole)


def test_a_later_copy_takes_the_place_of_one_that_runs(qtbot):
    view = GridView(GridModel(make_grid(3500)), "Things")
    qtbot.addWidget(view)
    view.copy_as_csv()
    view.select_rows(np.array([4]), 4)
    view.copy_as_csv()
    few = QGuiApplication.clipboard().text()
    assert few.count("\r\n") == 2
    qtbot.waitUntil(lambda: not view.findChildren(QTimer, "turns"))
    assert QGuiApplication.clipboard().text() == few


COPY_AND_LEAVE = """
import numpy as np
from PySide6.QtWidgets import QApplication
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.grid import Column, Grid
from ctm_gui.widgets.theme import LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from ctm_gui.widgets.table_view import GridView

app = QApplication([])
column = Column(
    key="n", title="N", text=str, numeric=True, sort_keys=lambda: np.zeros(2)
)
view = GridView(GridModel(Grid(2, [column])), "Numbers")
view.copy_as_csv()
print(repr(app.clipboard().text()))
"""


def test_a_process_that_copied_ends_without_a_crash():
    ended = subprocess.run(
        [sys.executable, "-c", COPY_AND_LEAVE], capture_output=True, text=True, check=False
    )
    assert ended.stdout.strip() == repr("N\r\n0\r\n1\r\n")
    assert ended.returncode == 0


def test_many_columns_are_fitted_too_those_out_of_view_in_turns(qtbot):
    texts = ["x" * (2 + number % 7) for number in range(90)]
    columns = [
        Column(
            key=f"c{number}",
            title="T",
            numeric=True,
            text=lambda _, number=number: texts[number],
            sort_keys=lambda: np.arange(5.0),
        )
        for number in range(90)
    ]
    model = GridModel(Grid(5, columns))
    view = GridView(model, "T")
    qtbot.addWidget(view)
    view.resize(600, 300)
    with qtbot.waitExposed(view):
        view.show()
    advance = view.fontMetrics().horizontalAdvance

    def fitted() -> bool:
        widths = [view.columnWidth(number) - advance(texts[number]) for number in range(89)]
        return len(set(widths)) == 1

    qtbot.waitUntil(fitted)
    texts.reverse()
    assert not fitted()
    view.fit_columns()
    qtbot.waitUntil(fitted)


def test_the_current_row_stays_in_view_while_the_table_gets_smaller(qtbot, table):
    table.resize(300, 600)
    table.show()
    qtbot.waitExposed(table)
    table.show_grid(make_grid(200))
    table.select_rows([120], 120)
    index = table.currentIndex()
    for height in (500, 301, 150):
        table.resize(300, height)
        assert table.viewport().rect().contains(table.visualRect(index).center())
    # One that was scrolled away is not fetched.
    table.verticalScrollBar().setValue(0)
    table.resize(300, 120)
    assert table.verticalScrollBar().value() == 0
