"""The product stays small: code lines of the engine and the window together."""

from __future__ import annotations

from benchmarks.code_size import code_lines, product_lines

LIMIT = 96_900
"""Lines that the product has today, rounded up; the goal is ``benchmarks.code_size.LIMIT``."""


def test_the_product_is_within_its_lines() -> None:
    rooms = product_lines()

    assert {"predictor/services", "ctm_gui/window"} <= rooms.keys()
    assert rooms.total() <= LIMIT


def test_blank_lines_comments_and_docstrings_are_no_code() -> None:
    module = '"""What it is."""\n\n# why\ndef one() -> int:\n    """One."""\n'
    module += "    return (\n        1\n    )\n"

    assert code_lines(module) == 4
