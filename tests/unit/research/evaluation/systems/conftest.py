"""The systems need libraries of their own; without them their tests are not collected."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("scipy") and find_spec("sklearn") else ["test_*.py"]
