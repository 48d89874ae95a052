"""What the tests of the source share: they read whole packages as syntax trees."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def no_search_for_garbage() -> Iterator[None]:
    """Leave trees to their counts of references: to look through them takes as long as to read."""
    gc.disable()
    yield
    gc.enable()
