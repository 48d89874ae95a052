"""Models by fingerprint with the bytes of their operator graph, and the files they came from."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from predictor.store.database import Database, Tables
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


def put(db: Tables, model: StoredModel) -> int:
    """Store a model and return the row id of its file; inside a transaction.

    The graph of a fingerprint is stored once, a file once for each path, size and time.
    """
    put_graph(db, model.fingerprint, model.graph)
    identity = {
        "fingerprint": model.fingerprint,
        "path": text_in(model.path),
        "size_bytes": model.size_bytes,
        "modified_ns": model.modified_ns,
    }
    files, now_ns = db.table("model_files"), time.time_ns()
    row_id: int = files.lookup(identity, {"seen_ns": now_ns})
    # lookup writes seen_ns into a new row only.
    files.update(row_id, {"seen_ns": now_ns})
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
    row = {"fingerprint": fingerprint, "graph": graph, "created_ns": time.time_ns()}
    db.table("models").insert(row, ignore=True)
