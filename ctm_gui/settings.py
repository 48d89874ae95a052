"""Settings of the window in one table, kept in an INI file of the user."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, cast

import platformdirs
from PySide6.QtCore import QByteArray, QSettings

from ctm_gui.widgets.theme import ThemeChoice
from predictor.core.csv_style import CsvStyle
from predictor.core.errors import HostError
from predictor.core.units import LatencyUnit

T = TypeVar("T", bool, int, float, str, list[str], bytes)

SETTINGS_VARIABLE = "CTM_SETTINGS"


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """One row of the table.

    Attributes:
        key: in the INI file.
        default: value before the user sets one; its type is the setting's.
        label: its name in the dialog.
        help: its effect, in a sentence.
        in_dialog: whether the dialog asks for it; the window remembers the others by itself.
        choices: the values that a text may have, each with its words.
        largest: of a number; the smallest is 0.
        unit: of a number.
        none: label of the number 0, where it means none.
    """

    key: str
    default: T
    label: str
    help: str
    in_dialog: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    largest: float = 0.0
    unit: str = ""
    none: str = ""


THEME = Setting(
    "window/theme",
    "system",
    "Theme",
    "Colours of the window: those of the desktop, or always the same.",
    in_dialog=True,
    choices=(("system", "As the system"), ("light", "Light"), ("dark", "Dark")),
)
GEOMETRY = Setting("window/geometry", b"", "Geometry", "Place and size of the window.")
SPLITTERS = Setting("window/splitters", b"", "Panels", "Width of the panels beside the tabs.")
PANEL_SPLITTER = Setting("window/panels", b"", "Panel heights", "Height of Models and Targets.")
VIEW = Setting("window/view", "", "View", "Name of the view that is shown.")
WHY_STRIP = Setting("why/strip", "operators", "Strip", "Which view of the operators is shown.")
WHY_WIDTHS = Setting("why/widths", b"", "Graph and panel", "Width of the graph beside its panel.")
WHY_HEIGHTS = Setting("why/heights", b"", "Graph and strip", "Height of the graph over its strip.")
UNIT = Setting(
    "compare/unit",
    LatencyUnit.MS.value,
    "Unit",
    "Unit of every latency. FPS is batch divided by latency.",
    in_dialog=True,
    choices=tuple((unit.value, unit.value) for unit in LatencyUnit),
)
BUDGET_MS = Setting(
    "compare/budget_ms",
    0.0,
    "Latency budget",
    "What a prediction may take; over it, a dot is a ring. 0 is no budget.",
    in_dialog=True,
    largest=1e6,
    unit="ms",
    none="no budget",
)
CSV_STYLE = Setting(
    "files/csv",
    CsvStyle.POINT.value,
    "Tables as CSV",
    "How tables are copied and saved: with commas and decimal points, or as spreadsheets of other "
    "regions read them.",
    in_dialog=True,
    choices=(
        (CsvStyle.POINT.value, "Commas, 1.5"),
        (CsvStyle.COMMA.value, "Semicolons, 1,5"),
    ),
)
COMPARE_MODE = Setting("compare/mode", 0, "Compare mode", "Index of the page of Compare.")
CHOOSE_MS = Setting("choose/latency_ms", 0.0, "Latency", "Largest latency of Choose.")
CHOOSE_WATTS = Setting("choose/power_w", 0.0, "Power", "Largest power of Choose.")
CHOOSE_MB = Setting("choose/memory_mb", 0.0, "Memory", "Largest memory of Choose.")
CHOOSE_TOKENS = Setting("choose/tokens_per_s", 0.0, "Tokens", "Least tokens a second of Choose.")
CHOOSE_FIRST = Setting("choose/first_ms", 0.0, "First token", "Longest first token of Choose.")
CHOOSE_JOULES = Setting("choose/joules", 0.0, "Joules", "Most joules a token of Choose.")
CHOOSE_COST = Setting("choose/cost", 0.0, "Cost", "Highest cost of a million tokens of Choose.")
CHOOSE_PRICE = Setting("choose/price", 0.0, "Price", "Price an hour of a card in Choose.")
LOAD = Setting("load/open", "", "Load", "The load that is open: its file and its text.")
LOAD_BOXES: Setting[list[str]] = Setting("load/boxes", [], "Boxes", "Files of the user's boxes.")
SCORES: Setting[list[str]] = Setting(
    "compare/scores", [], "Scores", "Scores of models: number, fingerprint/folder/file."
)
SCORE_NAME = Setting("compare/score_name", "Accuracy (%)", "Score", "What the scores are.")
SCORE_HIGHER = Setting(
    "compare/score_higher",
    True,
    "Higher is better",
    "Whether a higher score is better.",
)
TARGETS: Setting[list[str]] = Setting(
    "targets/selected", [], "Targets", "Ids of the checked devices."
)
TARGETS_CHOSEN = Setting(
    "targets/chosen", False, "Targets chosen", "Whether the selection was ever the user's."
)
GUIDE = Setting(
    "window/guide", True, "First minute", "Whether the start page shows the first steps."
)
FAVOURITES: Setting[list[str]] = Setting(
    "targets/favourites", [], "Favourites", "Ids of the favourite devices."
)
CONFIGURATIONS: Setting[list[str]] = Setting(
    "targets/configurations",
    [],
    "Configurations",
    "Configurations in place of a device's usual one: id/runtime/precision/threads/batch.",
)
DEFAULTS = Setting(
    "targets/defaults",
    0,
    "Defaults",
    "Version of the default configurations that the targets were checked with.",
)
VARIANTS: Setting[list[str]] = Setting(
    "targets/variants",
    [],
    "Variants",
    "Further configurations of a device: id/runtime/precision/threads/batch.",
)
MEASURE = Setting(
    "targets/measure",
    True,
    "Measure this PC",
    "Once, for 10 seconds, when it is first predicted; never on battery or while it is busy.",
    in_dialog=True,
)
RESTORE = Setting(
    "files/restore",
    True,
    "Open the models of the last session",
    "At a start without files, with the dimensions that were set.",
    in_dialog=True,
)
MAX_RECENT = Setting(
    "files/most_recent",
    10,
    "Recent files",
    "How many files Open Recent keeps.",
    in_dialog=True,
    largest=50,
)
RECENT: Setting[list[str]] = Setting("files/recent", [], "Open Recent", "Paths of the files.")
MODELS: Setting[list[str]] = Setting(
    "files/models", [], "Models", "Models of the last session: JSON of path and dimensions."
)
LANGUAGE = Setting(
    "files/language", "", "Language model", "That of the last session: JSON of path and run."
)
FOLDER = Setting("files/folder", "", "Folder", "Folder in which the file dialog opens.")

AnySetting = (
    Setting[bool]
    | Setting[int]
    | Setting[float]
    | Setting[str]
    | Setting[list[str]]
    | Setting[bytes]
)

# Every setting above, in that order, which is the dialog's.
TABLE: tuple[AnySetting, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Setting)
)


def settings_path() -> Path:
    """Return the settings file: ``CTM_SETTINGS``, else one in the user's configuration folder."""
    named = os.environ.get(SETTINGS_VARIABLE)
    if named:
        return Path(named)
    return platformdirs.user_config_path("closertome", appauthor=False) / "window.ini"


class Settings:
    """Typed access to the settings file; a value that makes no sense reads as the default."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = QSettings(str(path), QSettings.Format.IniFormat)

    def get(self, setting: Setting[T]) -> T:
        """Return the setting's value."""
        raw = self._file.value(setting.key)
        if raw is None:
            return setting.default
        return cast("T", _read(raw, setting.default))

    def set(self, setting: Setting[T], value: T) -> None:
        """Remember a value; it is written at the next ``sync``, or when Qt is idle."""
        self._file.setValue(setting.key, QByteArray(value) if isinstance(value, bytes) else value)

    def sync(self) -> None:
        """Write to disk.

        Raises:
            HostError: the file cannot be written.
        """
        self._file.sync()
        if self._file.status() is not QSettings.Status.NoError:
            raise self._not_writable()

    def check_writable(self) -> None:
        """Find out before the end that nothing will be remembered.

        Raises:
            HostError: the file cannot be written.
        """
        if not self._file.isWritable():
            raise self._not_writable()

    def add_recent(self, paths: Sequence[str]) -> None:
        """Put files at the top of Open Recent."""
        recent = dict.fromkeys([*reversed(paths), *self.get(RECENT)])
        self.set(RECENT, list(recent)[: self.get(MAX_RECENT)])

    def _not_writable(self) -> HostError:
        return HostError(
            str(self.path),
            "the settings cannot be written",
            f"make the file writable or name another one in {SETTINGS_VARIABLE}",
        )


def remembered_theme(settings: Settings) -> ThemeChoice:
    """Return the user's choice of theme; the system's where it is missing or unknown."""
    chosen = settings.get(THEME)
    return ThemeChoice(chosen) if chosen in list(ThemeChoice) else ThemeChoice.SYSTEM


def remembered_csv_style(settings: Settings) -> CsvStyle:
    """Return the user's style of CSV; that of decimal points where it is missing or unknown."""
    chosen = settings.get(CSV_STYLE)
    return CsvStyle(chosen) if chosen in list(CsvStyle) else CsvStyle.POINT


def _read(raw: object, default: object) -> object:
    """Convert a value of the INI file (text, mostly) to the type of ``default``."""
    if isinstance(default, bytes):
        return bytes(raw.data()) if isinstance(raw, QByteArray) else default
    if isinstance(default, list):
        # One entry comes back as text, several as a list.
        entries = raw if isinstance(raw, list) else [raw]
        return [str(entry) for entry in entries if entry]
    if isinstance(default, bool):
        # An INI file keeps text, and bool("false") is True.
        return str(raw).lower() == "true"
    try:
        return type(default)(raw)  # type: ignore[call-arg]
    except (TypeError, ValueError):
        return default
