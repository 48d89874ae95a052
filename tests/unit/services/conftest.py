"""A store of its own for each test of what services get from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from predictor.services.history.history import History, open_history


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def history(path: Path) -> Iterator[History]:
    with open_history(path) as opened:
        yield opened
