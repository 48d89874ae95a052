"""Models by fingerprint with the bytes of their operator graph, and the files they came from."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from predictor.store.database import Database
from predictor.store.tables import Tables
from predictor.store.values import text_in

_IDENTITY = "fingerprint, path, size_bytes, modified_ns"
_PUT_FILE = (
    f"INSERT INTO model_files ({_IDENTITY}, seen_ns) VALUES (?, ?, ?, ?, ?)"  # noqa: S608 - our own words
    f" ON CONFLICT ({_IDENTITY}) DO UPDATE SET seen_ns = excluded.seen_ns"
)
_FIND_FILE = f"SELECT id FROM model_files WHERE ({_IDENTITY}) = (?, ?, ?, ?)"  # noqa: S608 - as above
_PUT_GRAPH = "INSERT OR IGNORE INTO models (fingerprint, graph, created_ns) VALUES (?, ?, ?)"


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


def put(db: Tables, model: StoredModel) -> int:
    """Store a model and return the row id of its file; inside a transaction.

    The graph of a fingerprint is stored once, a file once for each path, size and time.
    """
    put_graph(db, model.fingerprint, model.graph)
    identity = (model.fingerprint, text_in(model.path), model.size_bytes, model.modified_ns)
    db.execute(_PUT_FILE, (*identity, time.time_ns()))
    row_id: int = db.execute(_FIND_FILE, identity).fetchone()[0]
    return row_id


def graphs(database: Database) -> Iterator[tuple[str, bytes]]:
    """Yield fingerprint and graph bytes of every model, read one at a time."""
    with database.reading() as db:
        for row in db.table("models").rows_where(order_by="fingerprint"):
            yield row["fingerprint"], row["graph"]


def graph_of(database: Database, fingerprint: str) -> bytes:
    """Return the graph bytes of a model; none where the store does not know it."""
    with database.reading() as db:
        rows = db.table("models").rows_where("fingerprint = ?", (fingerprint,))
        return next((bytes(row["graph"]) for row in rows), b"")


def put_graph(db: Tables, fingerprint: str, graph: bytes) -> None:
    """Store the graph of a model of which no file is known; inside a transaction."""
    db.execute(_PUT_GRAPH, (fingerprint, graph, time.time_ns()))
