"""What the tests of research run under beside: no graphs that this user built."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Processes that tests start import both packages, wherever they run.
_RESEARCH = Path(__file__).resolve().parents[1]
os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (_RESEARCH.parent, _RESEARCH)))


@pytest.fixture(autouse=True)
def own_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the user's graphs: rows of small data folders would find them."""
    monkeypatch.setattr(
        "ctm_research.sources.built.user_cache_path", lambda *_, **__: tmp_path / "own-cache"
    )
