from __future__ import annotations

from ctm_gui.window.help_pages import Command, matching

OPEN = Command(id="open", menu="File", text="Open", keys="Ctrl+O", tip="Open .onnx files")
FOLDER = Command(
    id="open_folder", menu="File", text="Open Folder", tip="Open every .onnx file in a folder"
)
REOPEN = Command(id="reopen", menu="File", text="Reopen")
UNDO = Command(id="undo", menu="Edit", text="Undo", keys="Ctrl+Z", enabled=False)
THEME = Command(id="theme_dark", menu="View", text="Dark Theme")
ALL = (OPEN, FOLDER, REOPEN, UNDO, THEME)


def ids(asked: str) -> list[str]:
    return [command.id for command in matching(ALL, asked)]


def test_nothing_asked_is_everything_with_what_cannot_be_done_last() -> None:
    assert ids("") == ["open", "open_folder", "reopen", "theme_dark", "undo"]


def test_a_word_that_begins_a_word_comes_before_one_inside() -> None:
    assert ids("open") == ["open", "open_folder", "reopen"]


def test_every_word_must_occur_in_text_menu_or_sentence_in_any_order() -> None:
    assert ids("folder op") == ["open_folder"]
    assert ids("FILE reop") == ["reopen"]
    assert ids("view dark") == ["theme_dark"]
    assert ids("onnx") == ["open", "open_folder"]
    assert ids("open nonsense") == []


def test_what_cannot_be_done_is_found_all_the_same() -> None:
    assert ids("undo") == ["undo"]
