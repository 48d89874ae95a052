from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from predictor.store.database import Database, open_database


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A path in a folder that does not exist yet."""
    return tmp_path / "data" / "store.sqlite"


@pytest.fixture
def database(store: Path) -> Iterator[Database]:
    opened = open_database(store)
    yield opened
    opened.close()
