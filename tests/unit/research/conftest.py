"""No graphs that this user built: rows of small data folders would find them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "predictor.research.sources.built.user_cache_path", lambda *_, **__: tmp_path / "own-cache"
    )
