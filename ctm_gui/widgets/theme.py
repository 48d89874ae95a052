"""Colours of the window: a light and a dark theme, following the system or the user's choice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette

from predictor.core.resources import resources_dir

CELL_PADDING_PX = 6  # at both sides of the text in a table's cell
THEME_PROPERTY = "theme"  # of windows without a parent: the name of their theme


class ThemeChoice(StrEnum):
    """Choices of the View menu."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True, kw_only=True)
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
# It has no colours but those of the palette, so that it stays when the theme changes: see
# ``theme_change``. Fusion draws nothing in ``shadow`` and ``link-visited``; they stand for
# ``outline`` and ``warn``, ``mid`` for ``grid``, ``bright-text`` for ``bad``. An icon cannot come
# from a palette: those of the dark theme are for windows that say so, and for what is in them.
_SHEET = """
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QToolTip {{ color: palette(tooltip-text); background: palette(tooltip-base);
    border: 1px solid palette(mid); padding: 4px; }}
QMainWindow::separator {{ background: palette(mid); width: 1px; height: 1px; }}
QSplitter::handle {{ background: palette(mid); }}
QSplitter::handle:horizontal {{ width: 1px; }}
QSplitter::handle:vertical {{ height: 1px; }}
QToolBar {{ border: none; border-bottom: 1px solid palette(mid); spacing: 6px; padding: 4px 8px; }}
QStatusBar {{ border-top: 1px solid palette(mid); }}
QStatusBar::item {{ border: none; }}
QAbstractScrollArea {{ border: 1px solid palette(mid); }}
QLineEdit, QAbstractSpinBox {{
    border: 1px solid palette(shadow); border-radius: 3px; background: palette(base);
    padding: 1px 4px; min-height: 20px; }}
QLineEdit:focus, QAbstractSpinBox:focus {{ border-color: palette(accent); }}
QAbstractSpinBox {{ min-height: 16px; }}
QAbstractSpinBox > QLineEdit {{ border: none; padding: 0 2px; min-height: 0; }}
QComboBox > QLineEdit {{ border: none; padding: 0 2px; min-height: 0; }}
QComboBox[editable="true"] {{
    border: 1px solid palette(shadow); border-radius: 3px; background: palette(base);
    padding: 1px 4px; min-height: 20px; }}
QComboBox[editable="true"]:focus {{ border-color: palette(accent); }}
QComboBox[editable="true"]::drop-down {{ width: 18px; border: none; }}
QComboBox[editable="true"]::down-arrow {{
    image: url("{icons}/down-light.svg"); width: 9px; height: 9px; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{
    subcontrol-origin: border; width: 18px; border: none; }}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; }}
QAbstractSpinBox::up-arrow {{ image: url("{icons}/up-light.svg"); width: 9px; height: 9px; }}
QAbstractSpinBox::down-arrow {{ image: url("{icons}/down-light.svg"); width: 9px; height: 9px; }}
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover {{
    background: palette(mid); }}
QPlainTextEdit {{ border: 1px solid palette(shadow); border-radius: 3px; }}
QScrollArea[role="page"] {{ border: none; }}
QTableView::item {{ padding: 0 {cell_padding_px}px; }}
QHeaderView {{ background: palette(window); }}
QHeaderView::section {{
    border: none; border-right: 1px solid palette(mid); border-bottom: 1px solid palette(shadow);
    background: palette(window); padding: 3px {cell_padding_px}px 1px; }}
QHeaderView::up-arrow, QHeaderView::down-arrow {{
    width: 8px; height: 6px; subcontrol-origin: border; subcontrol-position: top center; }}
QHeaderView::up-arrow {{ image: url("{icons}/up-light.svg"); }}
QHeaderView::down-arrow {{ image: url("{icons}/down-light.svg"); }}
QListWidget::item {{ padding: 2px {cell_padding_px}px; }}
QRadioButton::indicator {{
    width: 13px; height: 13px; border: 1px solid palette(shadow); border-radius: 7px;
    background: palette(base); }}
QRadioButton::indicator:focus {{ border-color: palette(accent); }}
QRadioButton::indicator:checked {{
    width: 7px; height: 7px; border: 4px solid palette(accent);
    background: palette(highlighted-text); }}
QCheckBox::indicator, QTreeView::indicator {{
    width: 13px; height: 13px; border: 1px solid palette(shadow); border-radius: 3px;
    background: palette(base); }}
QCheckBox::indicator:focus, QTreeView::indicator:focus {{ border-color: palette(accent); }}
QCheckBox::indicator:checked, QTreeView::indicator:checked,
QTreeView::indicator:indeterminate {{ border-color: palette(accent); background: palette(accent); }}
QCheckBox::indicator:checked, QTreeView::indicator:checked {{
    image: url("{icons}/check-light.svg"); }}
QTreeView::indicator:indeterminate {{ image: url("{icons}/partial-light.svg"); }}
QToolButton:checked {{
    border: 1px solid palette(accent); border-radius: 3px; background: palette(mid);
    padding: 3px; }}
QLabel[role="title"] {{ font-size: 20px; font-weight: 600; }}
QLabel[role="heading"] {{ font-weight: 600; }}
QLabel[role="muted"] {{ color: palette(placeholder-text); }}
QLabel[role="bad"] {{ color: palette(bright-text); }}
QLabel[role="warn"] {{ color: palette(link-visited); }}
QLabel[role="notice"] {{
    color: palette(link-visited); border-bottom: 1px solid palette(link-visited);
    padding: 6px 10px; font-weight: 600; }}
QLabel[role="empty"] {{ color: palette(placeholder-text); padding: 16px; }}
[theme="dark"] QComboBox[editable="true"]::down-arrow,
[theme="dark"] QAbstractSpinBox::down-arrow,
[theme="dark"] QHeaderView::down-arrow {{ image: url("{icons}/down-dark.svg"); }}
[theme="dark"] QAbstractSpinBox::up-arrow,
[theme="dark"] QHeaderView::up-arrow {{ image: url("{icons}/up-dark.svg"); }}
[theme="dark"] QCheckBox::indicator:checked, [theme="dark"] QTreeView::indicator:checked {{
    image: url("{icons}/check-dark.svg"); }}
[theme="dark"] QTreeView::indicator:indeterminate {{ image: url("{icons}/partial-dark.svg"); }}
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
        (roles.LinkVisited, theme.warn),
        (roles.Accent, theme.accent),
        (roles.Light, theme.grid),
        (roles.Mid, theme.grid),
        (roles.Midlight, theme.grid),
        (roles.Dark, theme.grid),
        (roles.Shadow, theme.outline),
    ):
        palette.setColor(role, QColor(colour))
    # The loop above sets all groups, the disabled one too, which would look enabled.
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.muted))
    palette.setColor(QPalette.ColorGroup.Disabled, roles.Highlight, QColor(theme.grid))
    palette.setColor(QPalette.ColorGroup.Disabled, roles.HighlightedText, QColor(theme.text))
    return palette


def style_sheet() -> str:
    """Return the short style sheet of both themes."""
    # Qt wants forward slashes on every system.
    icons = (resources_dir() / "icons").as_posix()
    return _SHEET.format(icons=icons, cell_padding_px=CELL_PADDING_PX)
