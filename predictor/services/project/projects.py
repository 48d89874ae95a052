"""Projects of an open store: written to a file, compared with one, taken over from one."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Self

from predictor.core.progress import CancelToken, ProgressCallback, no_progress
from predictor.services.devices.catalogue import Catalogue
from predictor.services.project.export import Exported, export_project
from predictor.services.project.imports import Chooser, Plan, apply, plan
from predictor.services.project.records import Project
from predictor.store.database import Database, open_database

__all__ = ["Projects", "open_projects"]


class Projects:
    """The projects of an open store.

    Args:
        database: opened on this thread; the caller, or leaving the block, closes it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def export(
        self,
        path: Path,
        *,
        tags: Collection[str] = (),
        replacing: bool = False,
        report: ProgressCallback = no_progress,
        token: CancelToken | None = None,
    ) -> Exported:
        """Write a project file; see ``export_project``."""
        return export_project(
            self._database, path, tags=tags, replacing=replacing, report=report, token=token
        )

    def plan(self, project: Project, catalogue: Catalogue, choose: Chooser | None = None) -> Plan:
        """Return what importing a project would do."""
        return plan(self._database, project, catalogue, choose)

    def apply(self, project: Project, catalogue: Catalogue, choose: Chooser) -> Plan:
        """Take a project over, all of it or nothing.

        Raises:
            InputError: a conflict is not answered.
            HostError: the store cannot be written.
        """
        return apply(self._database, project, catalogue, choose)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._database.close()


def open_projects(path: Path | None = None) -> Projects:
    """Open the store for its projects.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the store cannot be opened.
    """
    return Projects(open_database(path))
