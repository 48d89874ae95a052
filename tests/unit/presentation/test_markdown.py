"""Markdown in which no name is markup."""

import pytest

from predictor.presentation.markdown import markdown_table, markdown_text


def test_a_table_aligns_numbers_and_escapes_markup():
    text = markdown_table(["Name", "ms"], [["a|b_c", "<i>\n x"], ["1.5", "-2"]], [False, True])
    assert text == ("| Name | ms |\n| --- | ---: |\n| a\\|b\\_c | 1.5 |\n| \\<i\\> x | -2 |\n")


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("# not a heading", "\\# not a heading"),
        ("- not a list", "\\- not a list"),
        ("1. not a list", "1\\. not a list"),
        ("=== no rule", "\\=== no rule"),
        ("&lt;b&gt;", "\\&lt;b\\&gt;"),
        ("two\n\nparagraphs", "two paragraphs"),
        ("2.85 ms", "2\\.85 ms"),
    ],
)
def test_a_line_of_text_is_no_markup(text, markdown):
    assert markdown_text(text) == markdown
