"""Models by fingerprint with the bytes of their operator graph, and the files they came from."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass

from predictor.store.database import Database
from predictor.store.values import text_in


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model file and the operator graph in it.

    Attributes:
        fingerprint: of the graph.
        graph: bytes of the graph.
        path: of the file, absolute.
        size_bytes: size of the file.
        modified_ns: modification time of the file, since 1970.
    """

    fingerprint: str
    graph: bytes
    path: str
    size_bytes: int
    modified_ns: int


def put(connection: sqlite3.Connection, model: StoredModel) -> int:
    """Store a model and return the row id of its file; inside a transaction.

    The graph of a fingerprint is stored once, a file once for each path, size and time.
    """
    put_graph(connection, model.fingerprint, model.graph)
    identity = (model.fingerprint, text_in(model.path), model.size_bytes, model.modified_ns)
    connection.execute(
        "INSERT INTO model_files (fingerprint, path, size_bytes, modified_ns, seen_ns)"
        " VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (fingerprint, path, size_bytes, modified_ns)"
        " DO UPDATE SET seen_ns = excluded.seen_ns",
        (*identity, time.time_ns()),
    )
    (file_id,) = connection.execute(
        "SELECT id FROM model_files"
        " WHERE fingerprint = ? AND path = ? AND size_bytes = ? AND modified_ns = ?",
        identity,
    ).fetchone()
    return int(file_id)


def graphs(database: Database) -> Iterator[tuple[str, bytes]]:
    """Give the fingerprint and graph bytes of every model, one at a time."""
    with database.reading() as connection:
        yield from connection.execute("SELECT fingerprint, graph FROM models ORDER BY fingerprint")


def graph_of(database: Database, fingerprint: str) -> bytes:
    """Return the graph bytes of a model; none where the store does not know it."""
    with database.reading() as connection:
        found = connection.execute(
            "SELECT graph FROM models WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()
        return b"" if found is None else bytes(found[0])


def put_graph(connection: sqlite3.Connection, fingerprint: str, graph: bytes) -> None:
    """Store the graph of a model of which no file is known; inside a transaction."""
    connection.execute(
        "INSERT OR IGNORE INTO models (fingerprint, graph, created_ns) VALUES (?, ?, ?)",
        (fingerprint, graph, time.time_ns()),
    )
