"""Tables as text: what is copied is what another program reads."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.presenters.grid import guarded, to_csv

cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


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
