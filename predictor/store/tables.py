"""The tables of an open store: statements of our own, and sqlite-utils for the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite_utils


class Tables:
    """Rows of an open store.

    sqlite-utils takes as long to load as hundreds of predictions to be made, so statements of our
    own go to the connection, and the library is loaded with the first table that it is needed for.

    Attributes:
        conn: the connection; writes belong into ``Database.transaction``.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.conn = connection

    @cached_property
    def library(self) -> sqlite_utils.Database:
        """The same tables in sqlite-utils."""
        import sqlite_utils  # noqa: PLC0415 - see the class

        # Plugins of sqlite-utils that are installed on this machine have no business here.
        return sqlite_utils.Database(self.conn, recursive_triggers=False, execute_plugins=False)

    def table(self, name: str) -> sqlite_utils.db.Table:
        """Return a table of sqlite-utils."""
        return self.library.table(name)

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run a statement."""
        return self.conn.execute(statement, values)

    def query(self, statement: str, values: Sequence[object] = ()) -> Iterator[dict[str, Any]]:
        """Run a statement and return its rows, each by the names of its columns."""
        cursor = self.conn.execute(statement, values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def insert(self, name: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Insert rows into a table, all with the columns of the first; inside a transaction."""
        remaining = iter(rows)
        first = next(remaining, None)
        if first is None:
            return
        columns, places = ", ".join(first), ", ".join("?" * len(first))
        statement = f"INSERT INTO {name} ({columns}) VALUES ({places})"  # noqa: S608 - our own words
        self.conn.executemany(statement, (tuple(row.values()) for row in chain([first], remaining)))
