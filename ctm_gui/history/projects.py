"""Project files of the window: written, read, compared with the store, taken over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ctm_gui.tasks.store_client import StoreClient, StoreRunner
from predictor.core.progress import CancelToken
from predictor.core.text import plural
from predictor.presentation.wording import shown
from predictor.services.devices.catalogue import Catalogue

if TYPE_CHECKING:
    from predictor.services.history.history import History
    from predictor.services.project.conflicts import Choice, Conflict
    from predictor.services.project.imports import Plan
    from predictor.services.project.projects import Exported
    from predictor.services.project.records import Project

    Answers = Mapping[Conflict, Choice]


@dataclass(frozen=True, slots=True, eq=False)
class OpenedProject:
    """A project file that was read, and the changes that an import would make."""

    path: str
    project: Project
    plan: Plan


class ProjectExchange(StoreClient):
    """Writes projects and takes them over.

    ``undecided`` gives an OpenedProject whose conflicts want an answer; ``imported`` says that the
    store has more; ``progressed`` gives a Progress.

    Args:
        run: runs work with the open store.
        catalogue: the devices that ship.
        parent: owner.
    """

    undecided = Signal(object)
    imported = Signal()
    progressed = Signal(object)

    def __init__(
        self, run: StoreRunner, catalogue: Catalogue, parent: QObject | None = None
    ) -> None:
        super().__init__(run, parent)
        self._catalogue = catalogue
        self._tokens: list[CancelToken] = []

    def cancel(self) -> None:
        """Stop; the store is left as it was before the import."""
        for token in self._tokens:
            token.cancel()
        self._tokens.clear()

    def export(self, path: str, tags: Sequence[str] = ()) -> None:
        """Write a project; an existing file is replaced, since the dialog has asked.

        Args:
            path: the file.
            tags: only predictions that have one of these; none for everything.
        """
        token = self._new_token()

        def work(history: History) -> Exported:
            return history.projects.export(
                Path(path), tags=tags, replacing=True, report=self.progressed.emit, token=token
            )

        self._submit(work, lambda exported: self._on_exported(path, exported))

    def open(self, path: str) -> None:
        """Read a project; it is taken over at once where nothing conflicts."""
        from predictor.services.project.file import read_project

        token = self._new_token()

        def work(history: History) -> OpenedProject:
            project = read_project(Path(path), self.progressed.emit, token)
            return OpenedProject(path, project, history.projects.plan(project, self._catalogue))

        self._submit(work, self._on_opened)

    def apply(self, opened: OpenedProject, answers: Answers) -> None:
        """Take a project over as the user has answered its conflicts."""

        def work(history: History) -> Plan:
            return history.projects.apply(opened.project, self._catalogue, answers.get)

        self._submit(work, lambda plan: self._on_imported(opened.path, plan))

    def _new_token(self) -> CancelToken:
        if not self.busy:
            self._tokens.clear()  # those of what has ended
        self._tokens.append(CancelToken())
        return self._tokens[-1]

    def _on_exported(self, path: str, exported: Exported) -> None:
        count = len(exported.project.predictions)
        self.done.emit(f"Wrote {plural(count, 'prediction')} to {shown(path)}")
        if exported.left_out:
            left_out = plural(
                exported.left_out,
                "prediction was left out: its graph cannot be read",
                "predictions were left out: their graph cannot be read",
            )
            self.done.emit(left_out)

    def _on_opened(self, opened: OpenedProject) -> None:
        if opened.plan.open:
            self.undecided.emit(opened)
        else:
            self.apply(opened, {})

    def _on_imported(self, path: str, plan: Plan) -> None:
        new = sum(counts.new + counts.back for counts in plan.counts.values())
        predictions = plan.counts["predictions"]
        self.done.emit(
            f"Imported {shown(path)}: {new} new records, {predictions.new} of them predictions"
            if new or plan.conflicts
            else f"{shown(path)} holds nothing that is not here already"
        )
        self.imported.emit()
