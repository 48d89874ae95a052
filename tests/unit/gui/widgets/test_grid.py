"""Rows behind an index array, and what is copied of them for another program."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.widgets.grid import Column, Grid, guarded, search_mask, to_csv
from predictor.core.csv_style import CsvStyle
from predictor.presentation.wording import NOTHING

cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
values = st.lists(st.integers(0, 5), max_size=30)


def grid_of(numbers):
    keys = np.array(numbers, dtype=np.float64)
    column = Column(
        key="n", title="N", text=lambda row: str(numbers[row]), numeric=True, sort_keys=lambda: keys
    )
    return Grid(len(numbers), [column])


@given(values, st.booleans(), st.integers(0, 5))
def test_order_and_filter_are_independent_of_which_comes_first(numbers, descending, least):
    mask = np.array(numbers, dtype=np.int64) >= least
    first, second = grid_of(numbers), grid_of(numbers)
    first.sort(0, descending=descending)
    first.show_only(mask)
    second.show_only(mask)
    second.sort(0, descending=descending)
    assert first.order.tolist() == second.order.tolist()
    assert sorted(first.order.tolist()) == np.flatnonzero(mask).tolist()
    first.show_only(mask)
    assert first.order.tolist() == second.order.tolist()


@given(values, st.data())
def test_positions_are_where_rows_are_shown(numbers, data):
    grid = grid_of(numbers)
    grid.sort(0, descending=True)
    grid.show_only(np.array(numbers, dtype=np.int64) > 1)
    rows = data.draw(st.lists(st.integers(0, max(len(numbers) - 1, 0)), max_size=8))
    rows = rows if numbers else []
    found = {grid.source(place) for place in grid.positions(rows).tolist()}
    assert found == {row for row in rows if numbers[row] > 1}


def test_sort_keys_are_computed_once_and_only_when_asked():
    calls = []

    def keys():
        calls.append(1)
        return np.array([2.0, 1.0])

    grid = Grid(2, [Column(key="n", title="N", text=str, numeric=True, sort_keys=keys)])
    assert not calls
    grid.sort(0)
    grid.sort(0, descending=True)
    assert len(calls) == 1


def test_every_word_must_be_found_whatever_its_case():
    texts = ("conv_1 conv", "relu_1 relu")
    assert search_mask(texts, " CONV 1 ").tolist() == [True, False]
    assert search_mask(texts, "").tolist() == [True, True]


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.tuples(*[cells] * n), max_size=6)))
def test_csv_reads_back_to_the_same_guarded_cells(rows):
    width = len(rows[0]) if rows else 2
    header = [f"h{i}" for i in range(width)]
    columns = [[row[i] for row in rows] for i in range(width)]
    text = to_csv(header, columns, [False] * width)
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read == [header, *([guarded(cell) for cell in row] for row in rows)]


@given(cells)
def test_a_guarded_cell_never_starts_a_formula_and_keeps_its_text(cell):
    safe = guarded(cell)
    assert safe.removeprefix("'") == cell.removeprefix("'") or safe == cell
    starts_formula = safe[:1] in {"=", "+", "-", "@", "\t", "\r"}
    assert not starts_formula or float(safe) == float(cell)


@pytest.mark.parametrize("number", ["-1.5", "+3", "-1e-05", "-.5"])
def test_numbers_stay_numbers(number):
    assert guarded(number) == number


@pytest.mark.parametrize("formula", ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "-"])
def test_formulas_become_text(formula):
    assert guarded(formula) == f"'{formula}"


def test_csv_follows_rfc_4180():
    text = to_csv(["Name", "ms"], [['a,"b"', "two\nlines"], ["1.5", "-2"]], [False, True])
    assert text == 'Name,ms\r\n"a,""b""",1.5\r\n"two\nlines",-2\r\n'


def test_csv_of_other_regions_has_semicolons_and_decimal_commas():
    columns = [["a;b", "v1.5"], ["1.5", NOTHING]]
    text = to_csv(["Name", "ms"], columns, [False, True], CsvStyle.COMMA)
    assert text == f'Name;ms\r\n"a;b";1,5\r\nv1.5;{NOTHING}\r\n'
