"""Help, commands, settings, versions and facts for a report of a problem.

The dialogs are imported where they are opened: the first frame does not need them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox, QTabWidget, QWhatsThis, QWidget

from ctm_gui.settings import THEME, Settings
from ctm_gui.window.actions import ActionSpec
from ctm_gui.window.help_pages import Command, matching, page_of
from ctm_gui.window.pages import Page
from ctm_gui.window.target_commands import device_commands, machine_commands
from ctm_gui.window.workspace import Workspace

if TYPE_CHECKING:
    from ctm_gui.window.help_window import HelpWindow
    from ctm_gui.window.palette import CommandPalette
    from ctm_gui.window.settings_dialog import SettingsDialog

PALETTE = "palette"
_WHAT_IT_IS = "Predicts how fast a neural network will run on hardware that is not on your desk."


class Assistance(QObject):
    """The commands of Help, and the dialogs of commands and settings.

    Signals:
        setting_changed: the Setting whose value the user changed.
        targets_chosen: ids of devices that the user chose in the palette.

    Args:
        window: the main window; owner of this object.
        tabs: its views.
        pages: in the tabs.
        specs: rows of the actions, in their order.
        actions: by id.
        settings: shown and changed by the dialog.
        workspace: models and targets counted in the system information.
    """

    setting_changed = Signal(object)
    targets_chosen = Signal(object)

    def __init__(
        self,
        window: QWidget,
        tabs: QTabWidget,
        pages: Sequence[Page],
        specs: Sequence[ActionSpec],
        actions: Mapping[str, QAction],
        settings: Settings,
        workspace: Workspace,
    ) -> None:
        super().__init__(window)
        self._window, self._tabs, self._pages, self._specs = window, tabs, pages, specs
        self._actions, self._settings, self._workspace = actions, settings, workspace
        self._help: HelpWindow | None = None
        # The wizard has pages of help too, and is a window of its own.
        for name in ("help", "whats_this"):
            actions[name].setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)

    def show_palette(self) -> CommandPalette:
        """Ask for a command, or for a device to tick, by a few letters of its name."""
        from ctm_gui.window.palette import CommandPalette

        find = partial(self._find, self._commands())
        palette = CommandPalette(find, self._run, self._window)
        palette.open()
        return palette

    def show_settings(self) -> SettingsDialog:
        """Show the dialog of the settings."""
        from ctm_gui.window.settings_dialog import SettingsDialog

        dialog = SettingsDialog(self._settings, self._window)
        dialog.changed.connect(self.setting_changed)
        dialog.open()
        return dialog

    def show_help(self, page: str = "") -> HelpWindow:
        """Show a page of help; that of the view with the focus where none is named."""
        from ctm_gui.window.help_window import HelpWindow

        if self._help is None:
            self._help = HelpWindow(self._window)
        self._help.show_page(page or self._page_of_focus())
        self._help.show()
        self._help.activateWindow()
        return self._help

    def whats_this(self) -> None:
        """Explain the focused control; without an explanation, let the user point at one."""
        focused = self._focused()
        text = focused.whatsThis() if focused is not None else ""
        if focused is not None and text:
            place = focused.mapToGlobal(focused.rect().bottomLeft())
            QWhatsThis.showText(place, text, focused)
        else:
            QWhatsThis.enterWhatsThisMode()

    def copy_system_information(self) -> None:
        """Copy versions, system and counts for a report of a problem."""
        from ctm_gui.window.system_information import system_information

        QGuiApplication.clipboard().setText(system_information(self._facts()))

    def show_about(self) -> QMessageBox:
        """Show the program's description and versions, without blocking the window."""
        from ctm_gui.window.system_information import versions

        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle("About CloserToMe")
        box.setText(_WHAT_IT_IS)
        box.setInformativeText(versions())
        copy = box.addButton("Copy Versions", QMessageBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(versions()))
        box.setStandardButtons(QMessageBox.StandardButton.Close)
        box.open()
        return box

    def _focused(self) -> QWidget | None:
        return QApplication.focusWidget() or self._window.focusWidget()

    def _facts(self) -> dict[str, str]:
        selection = self._workspace.selection
        return {
            "Settings": str(self._settings.path),
            "Theme": self._settings.get(THEME),
            "Models": str(len(self._workspace.shelf.entries)),
            "Targets": f"{len(selection.selected_ids)} of {len(selection.devices)}",
        }

    def _page_of_focus(self) -> str:
        parts = (type(part).__name__ for part in self._focused_parts())
        page = self._pages[self._tabs.currentIndex()]
        return page_of(parts) or page.help or page.id

    def _focused_parts(self) -> Iterator[QWidget]:
        """Yield the focused widget and its ancestors, without the window."""
        part = self._focused()
        while part is not None and part is not self._window:
            yield part
            part = part.parentWidget()

    def _commands(self) -> list[Command]:
        return [
            _command(self._actions[spec.id], spec.menu, spec.tip)
            for spec in self._specs
            if spec.id != PALETTE
        ]

    def _find(self, commands: Sequence[Command], query: str) -> list[Command]:
        """Return this machine, then actions, then other devices, as far as they match."""
        catalogue = self._workspace.selection.catalogue
        machine, devices = machine_commands(catalogue, query), device_commands(catalogue, query)
        return [*machine, *matching(commands, query), *devices]

    def _run(self, command: Command) -> None:
        def run() -> None:
            if command.device_ids:
                self.targets_chosen.emit(command.device_ids)
            else:
                self._actions[command.id].trigger()

        # Once the palette is gone and the focus is where it was.
        QTimer.singleShot(0, self, run)


def _command(action: QAction, menu: str, tip: str) -> Command:
    text, _, stated_keys = action.text().partition("\t")
    return Command(
        id=action.objectName(),
        menu=_plain(menu),
        text=_plain(text),
        keys=stated_keys or action.shortcut().toString(action.shortcut().SequenceFormat.NativeText),
        tip=tip,
        enabled=action.isEnabled(),
    )


def _plain(text: str) -> str:
    """Return a menu text without the marks of its key: ``&&`` is an ampersand."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").removesuffix("…")
