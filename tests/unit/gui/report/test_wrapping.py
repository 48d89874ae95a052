"""Lines that fit, whatever is written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from ctm_gui.report.marks import ELLIPSIS, Style, Typeface, register_fonts, shortened_to, wrapped
from ctm_gui.widgets.geometry import linear_ticks
from predictor.core.text import printable
from tests.support.report_requests import HOSTILE

STYLE = Style(80)
PRINTABLE = st.text(st.characters(codec="utf-8"), max_size=60).map(printable)


@pytest.fixture(scope="module")
def typeface(qapp: QApplication) -> Typeface:
    register_fonts()
    return Typeface()


@settings(max_examples=60, deadline=None)
@given(text=PRINTABLE | st.sampled_from([printable(name) for name in HOSTILE]))
def test_every_line_fits_and_no_letter_is_lost(typeface: Typeface, text: str) -> None:
    lines = wrapped(typeface, text, STYLE, 600.0)

    assert all(typeface.width(line, STYLE) <= 600.0 for line in lines)
    assert "".join(lines).replace(" ", "") == typeface.drawable("".join(text.split()))


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_too_long_ends_with_a_mark(typeface: Typeface, name: str) -> None:
    text = f"{printable(name)} " * 30
    lines = wrapped(typeface, text, STYLE, 900.0, limit=3)

    assert len(lines) == 3
    assert ELLIPSIS in lines[-1]
    assert all(typeface.width(line, STYLE) <= 900.0 for line in lines)
    one = shortened_to(typeface, text, STYLE, 900.0)
    assert ELLIPSIS in one
    assert typeface.width(one, STYLE) <= 900.0


def test_a_number_keeps_its_per_cent_sign(typeface: Typeface) -> None:
    width = typeface.width("it is 89", STYLE) + 1
    assert wrapped(typeface, "it is 89 %; likely", STYLE, width) == ["it is", "89 %;", "likely"]


def test_a_path_is_broken_at_its_seams(typeface: Typeface) -> None:
    width = typeface.width("documentation/asciidoc/", STYLE) + 1
    lines = wrapped(typeface, "documentation/asciidoc/computers/processors_adoc", STYLE, width)

    assert lines == ["documentation/asciidoc/", "computers/processors_", "adoc"]


def test_a_character_that_no_font_has_is_written_as_its_number(typeface: Typeface) -> None:
    # A private-use plane's last letter: no font on any machine has it.
    assert typeface.drawable("a\U0010fffdb") == "a\\U0010fffdb"
    assert typeface.drawable("µ × – …") == "µ × – …"


@pytest.mark.parametrize(
    ("high", "most", "ticks"),
    [
        (3.0, 4, [0.0, 1.0, 2.0, 3.0]),
        (0.7, 4, [0.0, 0.2, 0.4, 0.6]),
        (1000.0, 5, [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]),
    ],
)
def test_ticks_are_round(high: float, most: int, ticks: list[float]) -> None:
    assert linear_ticks(high, most) == pytest.approx(ticks)
