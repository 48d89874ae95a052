"""Fresh processes: the modules that they load, and what they may not do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Raised by the interpreter itself for every use of a socket, also by those in C extensions that go
# through Python's socket module; each process leaves a mark so that none escapes the rule unseen.
NO_NETWORK = """
import os, sys

def forbid(event, arguments):
    if event.startswith("socket.") and event not in ("socket.gethostname", "socket.__new__"):
        with open(os.environ["CTM_TEST_MARKS"] + "/broken", "a") as file:
            file.write(event + "\\n")
        raise RuntimeError("no network: " + event)

sys.addaudithook(forbid)
with open(os.environ["CTM_TEST_MARKS"] + f"/process-{os.getpid()}", "w"):
    pass
"""


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def modules_after(code: str, *, whole: bool = False) -> set[str]:
    """Return the top-level modules, or all, that a fresh process has loaded after ``code``."""
    ending = "; import sys, json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = run_python(code + ending)
    assert done.returncode == 0, done.stderr
    modules = json.loads(done.stderr.splitlines()[-1])
    return {name if whole else name.split(".")[0] for name in modules}
