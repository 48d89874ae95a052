"""Every text of the window can be translated: it goes through ``tr``.

Looked at are the views, the wizard, the presenters and the item models: whatever reads like a text
there stands in ``tr``, or in a table, marked with ``QT_TR_NOOP`` and translated when it is shown
(docs/decisions/0013). What widgets are made with and what is set on them is looked at more closely:
there a single word is a text too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("views", "wizard", "presenters", "models")
MARKS = {"tr", "QT_TR_NOOP"}
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
# Calls whose texts nobody reads in the window: patterns, names of threads, defects, the terminal.
UNSEEN = {
    *("compile", "sub", "startswith", "cast", "QKeySequence", "SerialWorker", "ValueError"),
    *("setObjectName", "setProperty", "write"),
}
# The same in every language, or no text at all.
SAME = {"Ctrl+0", "Alt+1", "Alt+2", "Alt+3", "Alt+4", ".svg", ".json", "Id"}
SAME |= {"MobileNetV2", "YOLOv3-tiny", "DistilBERT"}
SAME |= {"FP32", "FP16", "BF16", "INT8", "AMP FP16", "AMP BF16"}
SAME |= {"SVG (*.svg)", "PNG (*.png)", "CSV (*.csv)"}
SAME |= {"PDF (*.pdf);;Markdown (*.md);;JSON (*.json)"}
# Tables that packaging/texts.py reads; facts for a report of a defect; a page of the English help.
APART = {"tab_places.py", "compare_tabs.py", "assistance.py", "help_pages.py"}
KEY = re.compile(r"[\w.:-]*", re.ASCII)
OVERLOAD = re.compile(r"(QList<|QAbstractItemModel::).*")


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
    if isinstance(node, ast.Constant | ast.JoinedStr):
        if is_text(words(node)):
            yield words(node)
    elif isinstance(node, ast.IfExp):
        yield from (*texts(node.body), *texts(node.orelse))
    elif isinstance(node, ast.Tuple | ast.List):
        for element in node.elts:
            yield from texts(element)


def words(node: ast.Constant | ast.JoinedStr) -> str:
    """Return what stands in a text as it is; empty where the constant is none."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(p.value) for p in node.values if isinstance(p, ast.Constant))
    return node.value if isinstance(node.value, str) else ""


def is_text(value: str) -> bool:
    """Whether somebody reads it: keys and roles are lower-case words without spaces."""
    letters = sum(character.isalpha() for character in value)
    is_key = value.isidentifier() and value == value.lower()
    return letters > 1 and not is_key and value not in SAME


def stray(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of what reads like a text, wherever it stands, and is not marked."""
    yield from _stray(ast.parse(source))


def _stray(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Constant | ast.JoinedStr):
        if reads_like_a_text(words(node)):
            yield node.lineno, words(node)
        children = [v for v in getattr(node, "values", []) if isinstance(v, ast.FormattedValue)]
        for child in children:
            yield from _stray(child.value)
    elif not is_apart(node):
        for child in ast.iter_child_nodes(node):
            yield from _stray(child)


def is_apart(node: ast.AST) -> bool:
    """Whether no text of the window stands in a node: docstrings, subscripts, unseen calls."""
    if isinstance(node, ast.Call):
        return called(node) in MARKS | UNSEEN
    return isinstance(node, ast.Subscript) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def reads_like_a_text(value: str) -> bool:
    """Whether it has words with blanks or a capital: no key, file name, markup or pattern."""
    plain = re.sub(r"<[^>]*>|&\w+;", "", value)
    has_capital = plain[:1].isupper() and not plain.isupper()
    is_key = KEY.fullmatch(plain) is not None and not has_capital
    return is_text(plain) and not is_key and OVERLOAD.fullmatch(value) is None


def found_in_rooms(look: object) -> list[str]:
    """Return what a look at each file finds, with its place."""
    assert callable(look)
    return [
        f"{path.relative_to(ROOT)}:{line}: {text!r}"
        for room in ROOMS
        for path in sorted((ROOT / "ctm_gui" / room).glob("*.py"))
        if path.name not in APART
        for line, text in look(path.read_text())
    ]


def test_the_check_sees_what_is_not_marked() -> None:
    source = """
label("Median of the runs", "muted")
box.setToolTip(f"{count} runs" if count else tr("none"))
form.addRow("Device", box)
QLabel(tr("Device"))
QPushButton(tr("{count} runs").format(count=3))
"""
    assert [text for _, text in unmarked(source)] == ["Median of the runs", " runs", "Device"]


def test_the_check_sees_texts_wherever_they_stand() -> None:
    source = '''
"""A module."""
TITLES = {"key": "Title", "other": QT_TR_NOOP("Other")}
def words(name):
    """Say it."""
    if name["Of a key"]:
        raise ValueError("no name at all")
    lines = [f"{'no name' if name else tr('a name')} is given", tr("Done"), "reading…"]
    return Column("key", "Median (ms)", read("file.json"), f"own:{name}", help=tr("Of it"))
'''
    found = [text for _, text in stray(source)]
    assert found == ["Title", " is given", "no name", "reading…", "Median (ms)"]


def test_every_text_that_is_handed_to_qt_is_marked() -> None:
    assert not found_in_rooms(unmarked)


def test_every_text_of_the_window_is_marked() -> None:
    assert not found_in_rooms(stray)
