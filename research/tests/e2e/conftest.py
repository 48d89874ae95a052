"""``ctm`` as a process, as the product's own tests start it."""

from __future__ import annotations

from tests.e2e.conftest import ctm_process as ctm
from tests.e2e.conftest import start_ctm, working_folder

__all__ = ["ctm", "start_ctm", "working_folder"]
