"""The pages of help that come from tables are what the tables say, and all pages ship."""

from __future__ import annotations

import contents
import make_help
import pytest

from predictor.core.resources import help_dir


@pytest.mark.parametrize("name", sorted(make_help.PAGES))
def test_a_page_from_a_table_is_up_to_date(qapp: object, name: str) -> None:
    page = (help_dir() / f"{name}.md").read_text(encoding="utf-8")
    assert page == make_help.PAGES[name](), "run: python packaging/make_help.py"


def test_the_pages_ship_where_the_program_looks() -> None:
    assert (str(help_dir()), "predictor/resources/help") in contents.data_files()
