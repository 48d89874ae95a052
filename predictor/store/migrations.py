"""The named steps that make the store's tables; a step that has shipped is never edited.

Each step runs through sqlite-utils' migrations, which record its name in the same transaction.
That library runs the pending steps and ignores names that it does not know, so the check for a
store of a newer program is ours (:func:`unknown_names`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from predictor.core.resources import resources_dir

if TYPE_CHECKING:
    from sqlite_utils import Database

_SET = "closertome"


class Migration(NamedTuple):
    """One step.

    Attributes:
        name: stored with the schema; the shipped script is ``resources/store/NAME.sql``.
        script: SQL in place of the shipped one.
    """

    name: str
    script: str = ""

    def statements(self) -> list[str]:
        """Return the statements, in the order in which they run."""
        path = resources_dir() / "store" / f"{self.name}.sql"
        return (self.script or path.read_text(encoding="utf-8")).split(";\n")


MIGRATIONS = (
    Migration("0001_tables"),
    Migration("0002_probes"),
    Migration("0003_history"),
    Migration("0004_provenance"),
    Migration("0005_this_machine"),
    Migration("0006_adaptation"),
    Migration("0007_evidence"),
    Migration("0008_token_rates"),
    Migration("0009_unstable"),
    Migration("0010_fingerprints"),
)


def applied_names(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the steps that made this store, in order; none for a new file."""
    table = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_sqlite_migrations'"
    ).fetchone()
    if not table:
        return []
    rows = connection.execute(
        "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY id", (_SET,)
    )
    return [name for (name,) in rows]


def unknown_names(applied: Sequence[str]) -> list[str]:
    """Return the names of steps that this program does not know: a newer program's."""
    names = {migration.name for migration in MIGRATIONS}
    return [name for name in applied if name not in names]


def pending_names(applied: Sequence[str]) -> list[str]:
    """Return the names of the steps that are still to run, in order."""
    return [migration.name for migration in MIGRATIONS if migration.name not in applied]


def apply_pending(connection: sqlite3.Connection) -> None:
    """Run the pending steps inside the transaction that the caller has open."""
    from sqlite_utils import Database, Migrations  # noqa: PLC0415 - see Database.tables

    steps = Migrations(_SET)
    for migration in MIGRATIONS:
        steps(name=migration.name)(_runner(migration))
    # Plugins of sqlite-utils that are installed on this machine have no business in the store.
    steps.apply(Database(connection, recursive_triggers=False, execute_plugins=False))


def _runner(migration: Migration) -> Callable[[Database], None]:
    def run(database: Database) -> None:
        for statement in migration.statements():
            database.execute(statement)

    return run
