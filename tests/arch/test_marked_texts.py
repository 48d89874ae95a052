"""Every text that a view or the wizard hands to Qt can be translated: it goes through ``tr``.

What is checked is where texts stand: what widgets and their helpers are made with, and what is set
on them afterwards. Texts in tables are marked with ``QT_TR_NOOP`` and translated when they are
shown (docs/decisions/0013).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("views", "wizard")
# Widgets of Qt, and helpers of ours that make one with a text.
MAKERS = {
    *("QLabel", "QPushButton", "QCheckBox", "QRadioButton", "QGroupBox", "QAction", "QMenu"),
    *("GridView", "Table", "FileField", "label", "_label", "_words", "_button", "_box", "_combo"),
    *("_spin_box", "_choice_box", "_muted_label", "_text_label", "_searchable_box", "_model_box"),
}
SETTERS = {
    *("setText", "setToolTip", "setWindowTitle", "setPlaceholderText", "setAccessibleName"),
    *("setAccessibleDescription", "setTitle", "setStatusTip", "setWhatsThis", "setSuffix"),
    *("setSpecialValueText", "setLabelText", "setOkButtonText", "setLabel", "addItem", "addItems"),
    *("addTab", "addRow", "addButton", "addAction", "addMenu", "add_row_action", "_add_heading"),
    *("getSaveFileName", "getOpenFileName", "getOpenFileNames", "getExistingDirectory"),
}
# The same in every language, or no text at all.
SAME = {"Ctrl+0", ".svg", ".json"}


def unmarked(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of what is handed to Qt as it stands in the source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and called(node) in MAKERS | SETTERS:
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                yield from ((argument.lineno, text) for text in texts(argument))


def called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts that an argument may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if is_text(node.value):
            yield node.value
    elif isinstance(node, ast.JoinedStr):
        fixed = "".join(str(p.value) for p in node.values if isinstance(p, ast.Constant))
        if is_text(fixed):
            yield fixed
    elif isinstance(node, ast.IfExp):
        yield from (*texts(node.body), *texts(node.orelse))
    elif isinstance(node, ast.Tuple | ast.List):
        for element in node.elts:
            yield from texts(element)


def is_text(value: str) -> bool:
    """Whether somebody reads it: keys and roles are lower-case words without spaces."""
    letters = sum(character.isalpha() for character in value)
    is_key = value.isidentifier() and value == value.lower()
    return letters > 1 and not is_key and value not in SAME


def test_the_check_sees_what_is_not_marked() -> None:
    source = """
label("Median of the runs", "muted")
box.setToolTip(f"{count} runs" if count else tr("none"))
form.addRow("Device", box)
QLabel(tr("Device"))
QPushButton(tr("{count} runs").format(count=3))
"""
    assert [text for _, text in unmarked(source)] == ["Median of the runs", " runs", "Device"]


def test_every_text_of_views_and_wizard_is_marked() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}"
        for room in ROOMS
        for path in sorted((ROOT / "ctm_gui" / room).glob("*.py"))
        for line, text in unmarked(path.read_text())
    ]
    assert not found
