"""Project files in the window: the menu for export and import, and its progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QToolButton, QWidget

from ctm_gui.history.projects import ProjectExchange
from ctm_gui.widgets.basic import busy_bar, button, fill, label
from predictor.core.progress import Progress
from predictor.presentation.wording import shown

_SUFFIX = ".ctmproject"
_FILES = f"CloserToMe projects (*{_SUFFIX});;All (*)"
_BAR_PX = 10


class ProjectButton(QToolButton):
    """A menu: export everything, export one tag, import.

    Args:
        projects: does it.
        tag: returns the tag that is chosen in the filter, empty for none.
    """

    def __init__(self, projects: ProjectExchange, tag: Callable[[], str]) -> None:
        super().__init__()
        self._projects, self._tag = projects, tag
        self.setText("Project")
        self.setToolTip("Give predictions, signatures and devices to a colleague as one file")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        menu.addAction("Export All…", self.export_all)
        self.export_action = menu.addAction("", self.export_tagged)
        menu.addAction("Import…", self.import_file)
        menu.aboutToShow.connect(self._name_tag)
        self.setMenu(menu)
        projects.busy_changed.connect(lambda: self.setEnabled(not projects.busy))

    def export_all(self) -> None:
        """Ask for a file and write everything."""
        self._export("")

    def export_tagged(self) -> None:
        """Ask for a file and write the predictions with the chosen tag."""
        self._export(self._tag())

    def import_file(self) -> None:
        """Ask for a project and take it over."""
        path, _ = QFileDialog.getOpenFileName(self, "Import project", "", _FILES)
        if path:
            self._projects.open(path)

    def _export(self, tag: str) -> None:
        name = f"{tag or 'project'}{_SUFFIX}"
        path, _ = QFileDialog.getSaveFileName(self, "Export project", name, _FILES)
        if path:
            file = path if Path(path).suffix else f"{path}{_SUFFIX}"
            self._projects.export(file, [tag] if tag else [])

    def _name_tag(self) -> None:
        tag = self._tag()
        self.export_action.setEnabled(bool(tag))
        self.export_action.setText(
            f"Export Those with the Tag {shown(tag).replace('&', '&&')}…"
            if tag
            else "Export Those with a Tag… (choose it above)"
        )


class ProjectProgress(QWidget):
    """Progress of a project that is written or read, with Cancel; hidden while there is none."""

    def __init__(self, projects: ProjectExchange) -> None:
        super().__init__()
        self._projects = projects
        self._text = label(wraps=False)
        self._bar = busy_bar("Project", _BAR_PX)
        self.cancel_button = button(
            "Cancel", act=projects.cancel, name="Stop writing or reading the project"
        )
        fill(QHBoxLayout(self), self._text, (self._bar, 1), self.cancel_button, margins=0)
        self.hide()
        projects.busy_changed.connect(self._show_busy)
        projects.progressed.connect(self._show_progress)

    def _show_busy(self) -> None:
        self.setVisible(self._projects.busy)
        self._bar.setRange(0, 0)
        self._text.setText("")

    def _show_progress(self, progress: Progress) -> None:
        self._bar.setRange(0, progress.total)
        self._bar.setValue(progress.done)
        self._text.setText(progress.message.capitalize())
