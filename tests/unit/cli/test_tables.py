from __future__ import annotations

from predictor.cli.tables import render_table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    table = render_table(
        ("Device", "ms", "Basis"), [("a", "1.5", "analytic"), ("board", "120", "")], " r"
    )

    assert table.split("\n") == [
        "Device   ms  Basis",
        "a       1.5  analytic",
        "board   120",
    ]


def test_wide_and_combining_characters_count_as_a_terminal_shows_them() -> None:
    table = render_table(("N", "M"), [("模型", "1"), ("e\u0301", "2")])

    assert table.split("\n") == ["N     M", "模型  1", "e\u0301     2"]


def test_a_table_without_rows_is_its_header() -> None:
    assert render_table(("A", "B"), []) == "A  B"
