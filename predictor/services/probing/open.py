"""The services of probing over one open store."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from predictor.services.devices.user_devices import UserDevices
from predictor.services.probing.sessions import ProbeSessions
from predictor.services.signatures.stored import Signatures
from predictor.store.database import Database, open_database


class Probing(AbstractContextManager["Probing"]):
    """Sessions, signatures and devices of an open store; as a context it closes the store.

    Args:
        database: opened on this thread; closed with this object.

    Attributes:
        sessions: of probing.
        signatures: of sessions and imports.
        devices: of the user.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.sessions = ProbeSessions(database)
        self.signatures = Signatures(database)
        self.devices = UserDevices(database)

    def close(self) -> None:
        """Close the store."""
        self._database.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def open_probing(path: Path | None = None) -> Probing:
    """Open the store for this thread; see :func:`predictor.services.history.history.open_history`.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the disk is full, read-only or failing, or another program holds the store.
    """
    return Probing(open_database(path))
