"""The pages of help lead to each other, to nothing else, and there is one for every view."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ctm_gui
from ctm_gui.window.help_pages import (
    contents,
    has_page,
    page_of,
    page_text,
    picture_path,
    view_name,
)
from predictor.core.resources import help_dir

PAGES = sorted(path.stem for path in help_dir().glob("*.md"))
WINDOW = Path(ctm_gui.__file__).parent / "window"


@pytest.mark.parametrize(
    ("class_name", "view"),
    [
        ("CompareView", "compare"),
        ("WhatIfBar", "what-if"),
        ("ProbingWizard", "probing"),
        ("ModelsPanel", "models"),
        ("SettingsDialog", "settings"),
    ],
)
def test_a_view_is_named_by_its_class(class_name: str, view: str) -> None:
    assert view_name(class_name) == view
    assert has_page(view)


def test_the_innermost_part_with_a_page_is_explained() -> None:
    assert page_of(["QLineEdit", "TargetsPanel", "CompareView"]) == "targets"
    assert page_of(["QLineEdit", "QSplitter"]) == ""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_a_title_and_links_to_pages_alone(name: str) -> None:
    text = page_text(name)
    assert text.startswith("# ")
    links = re.findall(r"(?<!!)\[[^]]+\]\(([^)]*)\)", text)
    assert all(link.endswith(".md") and has_page(link.removesuffix(".md")) for link in links)
    for shown in re.findall(r"!\[[^]]+\]\(pictures/([^)]*)\)", text):
        for is_dark in (False, True):
            picture = picture_path(shown, is_dark=is_dark)
            assert picture is not None
            assert picture.stat().st_size < 300_000
    assert text.count("![") == text.count("](pictures/")
    assert "<" not in text, "no markup"


def test_every_page_is_in_the_contents() -> None:
    assert sorted(name for name, _ in contents()) == PAGES


def test_a_page_that_is_not_there_says_so_and_no_other_file_is_read() -> None:
    for name in ("nothing", "../window", "/etc/passwd"):
        assert "There is no page" in page_text(name)


def test_no_picture_is_read_from_elsewhere() -> None:
    for name in ("nothing-light.png", "../compare-light.png", "/etc/passwd", "compare-dark.png"):
        assert picture_path(name, is_dark=False) is None


def test_every_picture_stands_on_a_page() -> None:
    pages = "".join(page_text(name) for name in PAGES)
    pictures = sorted((help_dir() / "pictures").glob("*-light.png"))
    assert len(pictures) == len(list((help_dir() / "pictures").glob("*-dark.png"))) > 0
    assert all(picture.name in pages for picture in pictures)


def test_every_view_in_a_tab_has_a_page() -> None:
    """Read from the source: a view without help is found without opening the window."""
    made = {
        node.func.id
        for name in ("main_window.py", "pages.py")
        for node in ast.walk(ast.parse((WINDOW / name).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    of_why = {"GraphView", "OperatorsView", "RooflineView", "TimelineView"}  # one page for all
    views = {name for name in made if name.endswith(("View", "Panel", "Bar"))} - {"FirstView"}
    views -= of_why | {"PlacesView", "MeasuredView"}  # a frame, and a page of History's help
    assert {"CompareView", "ModelsPanel"} <= views
    without = sorted(name for name in views if not has_page(view_name(name)) and name != "QToolBar")
    assert not without, f"docs/help lacks {[view_name(name) + '.md' for name in without]}"
