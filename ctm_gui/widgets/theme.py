"""Colours of the window: a light and a dark theme, following the system or the user's choice."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette

from predictor.core.resources import resources_dir

CELL_PADDING_PX = 6  # at both sides of the text in a table's cell


class ThemeChoice(StrEnum):
    """Choices of the View menu."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours as ``#rrggbb``.

    Attributes:
        name: ``light`` or ``dark``.
        background: of the window.
        surface: of tables, trees, fields and plots.
        text: of everything that is read.
        muted: of secondary text; still readable (4.5:1).
        accent: of selections, links and focus.
        on_accent: of text on the accent.
        grid: of separators and grid lines.
        outline: of fields and check boxes (3:1).
        good, warn, bad: of verdicts; readable as text on background and surface.
        series: of plot series, distinguishable without colour vision.
        heat: of maps, from the least to the most: ever further from the surface in lightness.
    """

    name: str
    background: str
    surface: str
    text: str
    muted: str
    accent: str
    on_accent: str
    grid: str
    outline: str
    good: str
    warn: str
    bad: str
    series: tuple[str, ...]
    heat: tuple[str, ...]


# Series after Okabe and Ito, "Color Universal Design" (2008), wine after Tol (2021); darkened on
# light and lightened on dark until each has 3:1 on its surface.
LIGHT = Theme(
    name="light",
    background="#f4f5f7",
    surface="#ffffff",
    text="#1b1f24",
    muted="#57606a",
    accent="#0b63b5",
    on_accent="#ffffff",
    grid="#d5d9df",
    outline="#848c96",
    good="#17702f",
    warn="#8a5300",
    bad="#b3261e",
    series=(
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#cc79a7",
        "#b8860b",
        "#882255",
        "#5e3c99",
        "#6e7781",
    ),
    heat=("#f5f7fa", "#cfe1f2", "#8fbfe0", "#3f8fc5", "#1560a0", "#08305f"),
)
DARK = Theme(
    name="dark",
    background="#1e2127",
    surface="#16181d",
    text="#e6e8eb",
    muted="#a3abb6",
    accent="#5aa9f0",
    on_accent="#0c0e12",
    grid="#3a3f49",
    outline="#717a86",
    good="#5fc97c",
    warn="#e3a93c",
    bad="#ff8a80",
    series=(
        "#4aa8e0",
        "#f08a3c",
        "#2fc79b",
        "#e29bc4",
        "#e6c229",
        "#8ed0f5",
        "#a98ae0",
        "#9aa3ad",
    ),
    heat=("#1d2129", "#1f3a57", "#23608f", "#3f93c4", "#8cc9e8", "#e8f6ff"),
)

# Fusion draws from the palette; the sheet adds what it cannot say: spacing, and outlines of fields
# and boxes, which Fusion darkens until they vanish on a dark background. It is the one style sheet
# of the program: one more on a widget makes Qt polish all its children again, 30 ms for a page.
_SHEET = """
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QToolTip {{ color: {text}; background: {surface}; border: 1px solid {grid}; padding: 4px; }}
QMainWindow::separator {{ background: {grid}; width: 1px; height: 1px; }}
QSplitter::handle {{ background: {grid}; }}
QSplitter::handle:horizontal {{ width: 1px; }}
QSplitter::handle:vertical {{ height: 1px; }}
QToolBar {{ border: none; border-bottom: 1px solid {grid}; spacing: 6px; padding: 4px 8px; }}
QStatusBar {{ border-top: 1px solid {grid}; }}
QStatusBar::item {{ border: none; }}
QAbstractScrollArea {{ border: 1px solid {grid}; }}
QLineEdit, QAbstractSpinBox {{
    border: 1px solid {outline}; border-radius: 3px; background: {surface};
    padding: 1px 4px; min-height: 20px; }}
QLineEdit:focus, QAbstractSpinBox:focus {{ border-color: {accent}; }}
QAbstractSpinBox {{ min-height: 16px; }}
QAbstractSpinBox > QLineEdit {{ border: none; padding: 0 2px; min-height: 0; }}
QComboBox > QLineEdit {{ border: none; padding: 0 2px; min-height: 0; }}
QComboBox[editable="true"] {{
    border: 1px solid {outline}; border-radius: 3px; background: {surface};
    padding: 1px 4px; min-height: 20px; }}
QComboBox[editable="true"]:focus {{ border-color: {accent}; }}
QComboBox[editable="true"]::drop-down {{ width: 18px; border: none; }}
QComboBox[editable="true"]::down-arrow {{
    image: url("{icons}/down-{name}.svg"); width: 9px; height: 9px; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{
    subcontrol-origin: border; width: 18px; border: none; }}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; }}
QAbstractSpinBox::up-arrow {{ image: url("{icons}/up-{name}.svg"); width: 9px; height: 9px; }}
QAbstractSpinBox::down-arrow {{ image: url("{icons}/down-{name}.svg"); width: 9px; height: 9px; }}
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover {{ background: {grid}; }}
QPlainTextEdit {{ border: 1px solid {outline}; border-radius: 3px; }}
QScrollArea[role="page"] {{ border: none; }}
QTableView::item {{ padding: 0 {cell_padding_px}px; }}
QHeaderView {{ background: {background}; }}
QHeaderView::section {{
    border: none; border-right: 1px solid {grid}; border-bottom: 1px solid {outline};
    background: {background}; padding: 3px {cell_padding_px}px 1px; }}
QHeaderView::up-arrow, QHeaderView::down-arrow {{
    width: 8px; height: 6px; subcontrol-origin: border; subcontrol-position: top center; }}
QHeaderView::up-arrow {{ image: url("{icons}/up-{name}.svg"); }}
QHeaderView::down-arrow {{ image: url("{icons}/down-{name}.svg"); }}
QListWidget::item {{ padding: 2px {cell_padding_px}px; }}
QRadioButton::indicator {{
    width: 13px; height: 13px; border: 1px solid {outline}; border-radius: 7px;
    background: {surface}; }}
QRadioButton::indicator:focus {{ border-color: {accent}; }}
QRadioButton::indicator:checked {{
    width: 7px; height: 7px; border: 4px solid {accent}; background: {on_accent}; }}
QCheckBox::indicator, QTreeView::indicator {{
    width: 13px; height: 13px; border: 1px solid {outline}; border-radius: 3px;
    background: {surface}; }}
QCheckBox::indicator:focus, QTreeView::indicator:focus {{ border-color: {accent}; }}
QCheckBox::indicator:checked, QTreeView::indicator:checked,
QTreeView::indicator:indeterminate {{ border-color: {accent}; background: {accent}; }}
QCheckBox::indicator:checked, QTreeView::indicator:checked {{
    image: url("{icons}/check-{name}.svg"); }}
QTreeView::indicator:indeterminate {{ image: url("{icons}/partial-{name}.svg"); }}
QToolButton:checked {{
    border: 1px solid {accent}; border-radius: 3px; background: {grid}; padding: 3px; }}
QLabel[role="title"] {{ font-size: 20px; font-weight: 600; }}
QLabel[role="heading"] {{ font-weight: 600; }}
QLabel[role="muted"] {{ color: {muted}; }}
QLabel[role="bad"] {{ color: {bad}; }}
QLabel[role="warn"] {{ color: {warn}; }}
QLabel[role="notice"] {{
    color: {warn}; border-bottom: 1px solid {warn}; padding: 6px 10px; font-weight: 600; }}
QLabel[role="empty"] {{ color: {muted}; padding: 16px; }}
"""


def theme_named(name: str) -> Theme:
    """Return the dark theme for ``dark``, else the light one."""
    return DARK if name == DARK.name else LIGHT


def system_theme(app: QGuiApplication) -> Theme:
    """Return the theme that the desktop asks for; light where it states none."""
    scheme = app.styleHints().colorScheme()
    return DARK if scheme is Qt.ColorScheme.Dark else LIGHT


def chosen_theme(app: QGuiApplication, choice: ThemeChoice) -> Theme:
    """Return the theme of the user's choice, the desktop's for ``SYSTEM``."""
    return system_theme(app) if choice is ThemeChoice.SYSTEM else theme_named(choice.value)


def palette_of(theme: Theme) -> QPalette:
    """Return the Qt palette that draws ``theme``."""
    roles = QPalette.ColorRole
    palette = QPalette()
    for role, colour in (
        (roles.Window, theme.background),
        (roles.WindowText, theme.text),
        (roles.Base, theme.surface),
        (roles.AlternateBase, theme.background),
        (roles.Text, theme.text),
        (roles.PlaceholderText, theme.muted),
        (roles.Button, theme.background),
        (roles.ButtonText, theme.text),
        (roles.BrightText, theme.bad),
        (roles.ToolTipBase, theme.surface),
        (roles.ToolTipText, theme.text),
        (roles.Highlight, theme.accent),
        (roles.HighlightedText, theme.on_accent),
        (roles.Link, theme.accent),
        (roles.LinkVisited, theme.accent),
        (roles.Accent, theme.accent),
        (roles.Light, theme.grid),
        (roles.Mid, theme.grid),
        (roles.Midlight, theme.grid),
        (roles.Dark, theme.grid),
    ):
        palette.setColor(role, QColor(colour))
    # The loop above sets all groups, the disabled one too, which would look enabled.
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.muted))
    palette.setColor(QPalette.ColorGroup.Disabled, roles.Highlight, QColor(theme.grid))
    palette.setColor(QPalette.ColorGroup.Disabled, roles.HighlightedText, QColor(theme.text))
    return palette


def style_sheet(theme: Theme) -> str:
    """Return the short style sheet of ``theme``."""
    # Qt wants forward slashes on every system.
    icons = (resources_dir() / "icons").as_posix()
    return _SHEET.format(icons=icons, cell_padding_px=CELL_PADDING_PX, **asdict(theme))


def apply_theme(app: QGuiApplication, theme: Theme) -> None:
    """Draw the whole application in ``theme``; views with their own painting are told apart."""
    app.setPalette(palette_of(theme))
    # QApplication has the style sheet, QGuiApplication (tests of non-widgets) has none.
    app.setProperty("styleSheet", style_sheet(theme))
