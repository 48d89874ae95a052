"""Probings of tests are believed, whatever else the machine does meanwhile."""

from __future__ import annotations

import pytest

from predictor.services.signatures.checks import ProbingChecks

PASSED = ProbingChecks(chosen=4, tried=4, measured=4, disturbed=0.0, drift=0.0, error=0.1)


@pytest.fixture(autouse=True)
def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each probing that ends pass its checks."""
    monkeypatch.setattr("predictor.services.probing.sessions.work_out", lambda *_: PASSED)
