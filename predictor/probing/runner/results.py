"""The results document."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from .machine import host_facts
from .settings import PROTOCOL, RESULTS_SCHEMA


class Results:
    """The results document, written anew after each network so that a kill loses one at most."""

    def __init__(self, plan: dict[str, Any], plan_sha256: str, path: Path | None) -> None:
        self._path = path
        self.document: dict[str, Any] = {
            "schema": RESULTS_SCHEMA,
            "protocol": PROTOCOL,
            "plan": plan["id"],
            "plan_sha256": plan_sha256,
            "settings": plan["settings"],
            "configuration": plan["configuration"],
            "boundary": "session.run, inputs prepared before",
            "host": host_facts(),
            "started_unix": time.time(),
            "finished": False,
            "networks": [],
            "sentinel": [],
            "drift": None,
        }

    def resume(self) -> None:
        """Take over what an earlier run of the same plan has measured."""
        try:
            earlier = json.loads(self._path.read_bytes()) if self._path else {}
            intact = earlier.get("digest") == digest(earlier)
        except (OSError, ValueError, AttributeError):
            return
        if intact and earlier["plan_sha256"] == self.document["plan_sha256"]:
            measured = [entry for entry in earlier["networks"] if entry.get("median_ms")]
            self.document["networks"] = measured
            self.document["sentinel"] = earlier["sentinel"]

    def has(self, name: str) -> bool:
        """Return whether a network has its number."""
        return any(entry["name"] == name for entry in self.document["networks"])

    def add(self, entry: dict[str, Any]) -> None:
        """Keep what was found of a network."""
        self.document["networks"].append(entry)
        self._write()

    def add_sentinel(self, block: dict[str, Any], drift: float) -> None:
        """Keep a block of the sentinel, and the drift of this run."""
        self.document["sentinel"].append(block)
        self.document["drift"] = drift
        self._write()

    def finish(self) -> None:
        """Note that nothing is left to be measured."""
        self.document["finished"] = True
        self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        self.document.pop("digest", None)
        self.document["digest"] = digest(self.document)
        partial = self._path.with_name(self._path.name + ".partial")
        partial.write_text(json.dumps(self.document), encoding="ascii")
        partial.replace(self._path)


def digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 (hex) of a document without its own digest."""
    content = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()
