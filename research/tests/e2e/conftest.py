"""``ctm`` as a process, as the product's own tests start it."""

from __future__ import annotations

from tests.e2e.conftest import ctm, start_ctm

__all__ = ["ctm", "start_ctm"]
