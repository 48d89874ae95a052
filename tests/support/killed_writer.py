"""A process that is killed while it writes a file."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

WRITER = """
import os, sys
from pathlib import Path
from predictor.core.files import replaced
with replaced(Path(sys.argv[1])) as partial:
    partial.write_bytes(b"half")
    os.kill(os.getpid(), 9)
"""


def killed_writer(path: Path) -> Path:
    """Return the partial file of a writer of ``path`` that was killed."""
    before = set(path.parent.iterdir())
    ended = subprocess.run([sys.executable, "-c", WRITER, path], check=False)
    assert ended.returncode == -signal.SIGKILL
    (left,) = set(path.parent.iterdir()) - before
    return left
