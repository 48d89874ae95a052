"""The window's texts are collected, translated and shown in the user's language."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from contents import ROOT
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot
from texts import collect, release, texts_of_tables

from ctm_gui.actions import ACTIONS
from ctm_gui.application import Application
from ctm_gui.presenters.operators import totals
from ctm_gui.presenters.operators_grid import OperatorsGrid
from ctm_gui.translation import NAME, install_translations, tr
from ctm_gui.views.tab_places import TITLES
from predictor.core.units import LatencyUnit
from tests.gui.test_operators_view import make_table

GERMAN = QLocale("de_DE")


def translated(text: str) -> str:
    return f"»{text}«"


def marked_texts() -> set[str]:
    """Return what the source marks, as Python reads it: pieces of one text joined."""
    nodes = (
        node
        for path in (ROOT / "ctm_gui").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
    )
    return {
        node.args[0].value
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"tr", "QT_TR_NOOP"}
        and isinstance(node.args[0], ast.Constant)
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translation that puts every text of the source into quotation marks."""
    folder = tmp_path_factory.mktemp("translations")
    texts = folder / f"{NAME}_de.ts"
    collect(texts)
    tree = ET.parse(texts)  # noqa: S314  # our own file
    for message in tree.iter("message"):
        translation = message.find("translation")
        source = message.findtext("source")
        assert translation is not None
        assert source
        translation.attrib.pop("type", None)
        forms = translation.findall("numerusform")
        for form, mark in zip(forms, ("one", "many"), strict=False):
            form.text = f"{mark} {translated(source)}"
        if not forms:
            translation.text = translated(source)
    tree.write(texts, encoding="utf-8", xml_declaration=True)
    release(texts, folder / f"{NAME}_de.qm")
    return folder


@pytest.fixture
def german(qapp: QApplication, folder: Path) -> Iterator[None]:
    installed = install_translations(qapp, folder, GERMAN)
    assert installed
    yield
    for translator in installed:
        qapp.removeTranslator(translator)


@pytest.mark.usefixtures("german")
def test_a_translation_shows_in_menus_tabs_buttons_and_tips(qtbot: QtBot, tmp_path: Path) -> None:
    application = Application(tmp_path / "store.db", tmp_path / "window.ini")
    window = application.window
    qtbot.addWidget(window)

    menus = [action.text() for action in window.menuBar().actions()]
    assert menus[0] == "»&File«"
    assert all(title.startswith("»") for title in menus)
    for spec in ACTIONS:
        action = window.actions_by_id[spec.id]
        assert action.text().startswith(translated(spec.text))
        assert action.statusTip() == (translated(spec.tip) if spec.tip else "")
    tabs = [window.tabs.tabText(index) for index in range(window.tabs.count())]
    assert tabs == [translated(title) for title in TITLES]
    buttons = {button.text() for button in window.first_view.start.findChildren(QPushButton)}
    assert translated("Open Models…") in buttons
    central = window.central
    assert central.operators_view.search_box.placeholderText().startswith("»")
    assert [window.tabs.tabText(index) for index in range(window.tabs.count())] == tabs
    application.close()


def test_without_a_translation_the_window_speaks_english(qapp: QApplication, folder: Path) -> None:
    assert install_translations(qapp, folder, QLocale("fr_FR")) == []
    assert tr("Open Models…") == "Open Models…"


@pytest.mark.usefixtures("german")
def test_columns_and_sentences_of_presenters_are_translated_when_they_are_made() -> None:
    table = make_table(2)
    titles = [column.title for column in OperatorsGrid(table, LatencyUnit.MS).columns]
    assert titles[1] == translated("Name")
    said = totals(table, np.arange(2), LatencyUnit.MS)
    assert said.startswith("many »2 operators«: »")


@pytest.mark.usefixtures("german")
def test_a_translation_has_the_plural_forms_of_its_language() -> None:
    counted = [tr("%n models", "%n model", count) for count in (0, 1, 2)]
    assert counted == ["many »0 models«", "one »1 models«", "many »2 models«"]


@pytest.mark.usefixtures("qapp")
def test_english_has_two_forms_and_needs_no_translation() -> None:
    counted = [tr("%n models of {all}", "%n model of {all}", count) for count in (0, 1, 2, 11)]
    assert [text.format(all=20) for text in counted] == [
        "0 models of 20", "1 model of 20", "2 models of 20", "11 models of 20",
    ]  # fmt: skip


def test_a_second_collection_keeps_what_is_translated(folder: Path, tmp_path: Path) -> None:
    texts = tmp_path / "copy.ts"
    texts.write_bytes((folder / f"{NAME}_de.ts").read_bytes())
    collect(texts)
    messages = ET.parse(texts).iter("message")  # noqa: S314  # our own file
    found = {
        m.findtext("source"): m.findtext("translation/numerusform") or m.findtext("translation")
        for m in messages
    }
    assert found
    assert all(
        translation in {translated(source or ""), f"one {translated(source or '')}"}
        for source, translation in found.items()
    )
    assert set(texts_of_tables()) <= set(found)
    assert len(marked_texts()) > 700
    assert marked_texts() <= set(found)
