"""Layout, models and targets of the window from one session to the next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict

from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QMainWindow, QSplitter, QTabWidget

from ctm_gui import settings as table
from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.language.state import LanguageState, common
from ctm_gui.models.shelf import ModelEntry, ModelShelf
from ctm_gui.settings import Setting, Settings
from ctm_gui.targets.choice import TargetSelection
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.pages import Page, index_of
from ctm_gui.window.workspace import Workspace
from predictor.core.documents import Document
from predictor.core.records import Configuration, Precision
from predictor.core.runtimes import RUNTIMES
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.services.devices.former_defaults import DEFAULTS_VERSION, former_defaults
from predictor.services.generation.records import GenerationRequest
from predictor.services.models.files import absolute
from predictor.services.serving.records import Limits

FIRST_SIZE = (1280, 800)


class Session:
    """Restores and remembers the layout of a window.

    Args:
        window: with the geometry.
        tabs: with the current tab.
        pages: in the tabs.
        splitters: by the setting that keeps the state.
        settings: keep the layout.
    """

    def __init__(
        self,
        window: QMainWindow,
        tabs: QTabWidget,
        pages: Sequence[Page],
        splitters: Mapping[Setting[bytes], QSplitter],
        settings: Settings,
    ) -> None:
        self._window = window
        self._tabs, self._pages = tabs, pages
        self._splitters = splitters
        self._settings = settings

    def restore(self) -> None:
        """Lay the window out as it was; as it is first where nothing is remembered."""
        if not self._window.restoreGeometry(QByteArray(self._settings.get(table.GEOMETRY))):
            self._window.resize(*FIRST_SIZE)
        self._clamp()
        for setting, splitter in self._splitters.items():
            splitter.restoreState(QByteArray(self._settings.get(setting)))
        self._tabs.setCurrentIndex(index_of(self._pages, self._settings.get(table.VIEW)) or 0)

    def _clamp(self) -> None:
        """Keep the window on its screen: one of before, or a larger text, may need less of it."""
        room = self._window.screen().availableGeometry()
        size = self._window.size().boundedTo(room.size())
        self._window.resize(size)
        place = self._window.geometry()
        if not room.contains(place):
            left = max(min(place.left(), room.right() + 1 - size.width()), room.left())
            top = max(min(place.top(), room.bottom() + 1 - size.height()), room.top())
            self._window.move(left, top)

    def remember(self) -> None:
        """Keep the layout."""
        self._settings.set(table.GEOMETRY, bytes(self._window.saveGeometry().data()))
        for setting, splitter in self._splitters.items():
            self._settings.set(setting, bytes(splitter.saveState().data()))
        self._settings.set(table.VIEW, self._pages[self._tabs.currentIndex()].id)


def remember_models(shelf: ModelShelf, settings: Settings) -> None:
    """Keep the open models with their dimensions."""
    settings.set(table.MODELS, remembered_models(shelf.entries))


def restore_models(shelf: ModelShelf, settings: Settings) -> None:
    """Open the models of the last session if the user wants that; missing files become errors."""
    if settings.get(table.RESTORE):
        shelf.restore(read_models(settings.get(table.MODELS)))


def remember_language(language: LanguagePresenter, settings: Settings) -> None:
    """Keep the open language models with their runs and their load."""
    state, limits = language.state, language.state.limits
    models = [
        {"path": absolute(entry.path), "run": asdict(state.request(entry))}
        for entry in state.entries
    ]
    load = dict(zip(_LOAD, (state.rate_per_s, limits.first_ms, limits.token_ms), strict=True))
    document = {"models": models, "shown": absolute(language.current_path), "load": load}
    settings.set(table.LANGUAGE, Document(document).to_json() if models else "")


def restore_language(workspace: Workspace, settings: Settings) -> None:
    """Open the language models of the last session if the user wants that."""
    document = Document(text=settings.get(table.LANGUAGE))
    if not settings.get(table.RESTORE) or not document.content:
        return
    with suppress(ValueError):  # of another version of the program
        models = _language_models(document)
        rate, first, token = (_stated(document, name) for name in _LOAD)
        state = LanguageState((), common(models[0][1]), rate, Limits(first, token))
        current_path = document.content.get("shown")
        workspace.language.restore(state, current_path if isinstance(current_path, str) else "")
        for place, (path, run) in enumerate(models):
            workspace.language_files.restore(path, run, place)


def _language_models(document: Document) -> list[tuple[str, GenerationRequest]]:
    """Return path and run of each model that a document holds, at least one.

    Raises:
        ValueError: it is none that this version reads.
    """
    from predictor.services.generation.token_rates import request_of

    # A version before opened a single model, which the document itself was about.
    models = document.content.get("models", [document.content])
    if not isinstance(models, list) or not models:
        raise ValueError("it has no models")
    read = []
    for model in models:
        path = model.get("path") if isinstance(model, dict) else None
        if not isinstance(path, str):
            raise ValueError("a model has no path")  # noqa: TRY004 - of a file, not of a call
        read.append((path, request_of(Document(model))))
    return read


_LOAD = ("rate_per_s", "first_ms", "token_ms")


def _stated(document: Document, name: str) -> float | None:
    """Return a number over 0 of the load that a document holds; None where it has none."""
    load = document.content.get("load")
    value = load.get(name) if isinstance(load, dict) else None
    if not isinstance(value, int | float) or not 0 < value < math.inf:
        return None
    return float(value)


def remembered_models(entries: Iterable[ModelEntry]) -> list[str]:
    """Return one line of JSON a model, as the settings keep it: path and dimensions."""
    return [
        Document({"path": entry.path, "bindings": entry.bindings}).to_json() for entry in entries
    ]


def read_models(lines: Sequence[str]) -> list[tuple[str, dict[str, int]]]:
    """Parse the lines of ``remembered_models``; invalid ones are left out.

    Returns:
        Path of each file, which may be gone, and values of its dynamic dimensions by name.
    """
    models = (_model(line) for line in lines)
    return [model for model in models if model is not None]


def _model(line: str) -> tuple[str, dict[str, int]] | None:
    content = Document(text=line).content
    path, bindings = content.get("path"), content.get("bindings")
    if not (isinstance(path, str) and path and isinstance(bindings, dict)):
        return None
    # type() and not isinstance: True is an int in Python, and JSON may hold it.
    return path, {name: v for name, v in bindings.items() if type(v) is int and v > 0}


def remembered_unit(settings: Settings) -> LatencyUnit:
    """Return the unit of the last session; milliseconds for an unknown one."""
    unit = settings.get(table.UNIT)
    return LatencyUnit(unit) if unit in list(LatencyUnit) else LatencyUnit.MS


def remembered_options(settings: Settings) -> ViewOptions:
    """Return unit and budget of the last session."""
    return ViewOptions(remembered_unit(settings), budget_ms=settings.get(table.BUDGET_MS) or None)


def restore_targets(selection: TargetSelection, settings: Settings) -> str:
    """Take up favourites, configurations chosen in place of the usual ones, and variants.

    Returns:
        A sentence where devices of a session of before keep defaults that have changed, said once;
        empty for none.
    """
    configurations = dict(_configurations(settings.get(table.CONFIGURATIONS)))
    former = _former_defaults(settings, configurations)
    configurations |= former
    variants: dict[str, tuple[Configuration, ...]] = {}
    for device_id, variant in _configurations(settings.get(table.VARIANTS)):
        variants[device_id] = (*variants.get(device_id, ()), variant)
    favourites = settings.get(table.FAVOURITES)
    if favourites or configurations or variants:
        selection.restore(favourites, configurations, variants)
    if not former:
        return ""
    # At once: after a crash they would be asked for again, or lost.
    settings.set(table.CONFIGURATIONS, [_line(*item) for item in sorted(configurations.items())])
    settings.set(table.DEFAULTS, DEFAULTS_VERSION)
    keep = plural(
        len(former),
        "target of your last session keeps its former one",
        "targets of your last session keep their former ones",
    )
    return f"Default configurations changed to what owners deploy; {keep}: see the target's menu."


def _former_defaults(
    settings: Settings, configurations: Mapping[str, Configuration]
) -> dict[str, Configuration]:
    """Return the former defaults of devices that a session of before left checked as they were."""
    was_chosen = settings.get(table.TARGETS_CHOSEN)
    if not was_chosen or settings.get(table.DEFAULTS) >= DEFAULTS_VERSION:
        return {}
    former = former_defaults()
    checked = [name for name in settings.get(table.TARGETS) if name not in configurations]
    return {name: former[name] for name in checked if name in former}


def remember_targets(selection: TargetSelection, settings: Settings) -> None:
    """Keep the checked devices, the favourites, the chosen configurations and the variants."""
    settings.set(table.TARGETS, list(selection.selected_ids))
    # Distinguishes a list that the user emptied from a first start.
    settings.set(table.TARGETS_CHOSEN, True)
    settings.set(table.DEFAULTS, DEFAULTS_VERSION)
    settings.set(table.FAVOURITES, sorted(selection.favourites))
    chosen = sorted(selection.configurations.items())
    settings.set(table.CONFIGURATIONS, [_line(*entry) for entry in chosen])
    variants = sorted(selection.variants.items())
    settings.set(table.VARIANTS, [_line(key, variant) for key, of in variants for variant in of])


def _line(device_id: str, c: Configuration) -> str:
    return f"{device_id}/{c.runtime}/{c.precision}/{c.threads}/{c.batch}"


def _configurations(lines: Iterable[str]) -> Iterator[tuple[str, Configuration]]:
    """Yield device id and configuration of each valid line."""
    for line in lines:
        if (entry := _configuration(line)) is not None:
            yield entry


def _configuration(text: str) -> tuple[str, Configuration] | None:
    """Parse a line of ``remember_targets``; None for an invalid one."""
    parts = text.split("/")
    if len(parts) != 5 or parts[1] not in RUNTIMES or parts[2] not in list(Precision):
        return None
    device_id, runtime, precision, threads, batch = parts
    if not (threads.isdecimal() and batch.isdecimal()):
        return None
    return device_id, Configuration(runtime, Precision(precision), int(threads), int(batch))
