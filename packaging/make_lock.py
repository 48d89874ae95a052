"""Write the versions and hashes that ``run.py`` installs, from what pyproject.toml asks for.

    python packaging/make_lock.py [--upgrade]

Needs the extra ``lock`` (uv). A locked version stays while pyproject.toml allows it; ``--upgrade``
takes the newest of each. One resolution serves every Python and system, so that all run what CI
tests. Each set of requirements then has a file in packaging/lock, as pip reads it, with the hashes
of all files of a version: other systems' wheels too.

torch is in no file. Under one version it has builds with and without CUDA, which differ in their
hashes and in what they need. pyproject.toml pins it, and pip installs it by that line alone.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from contents import PACKAGING, ROOT

LOCK = PACKAGING / "lock"
HEAD = """\
# Made from pyproject.toml by packaging/make_lock.py: do not edit. docs/packaging.md tells how to
# renew it. Read by run.py.
"""
# torch, and what only its builds with CUDA need.
LEFT_OUT = re.compile(r"^(?:torch==|triton==|cuda-|nvidia-).*(?:\n    .*)*\n", re.MULTILINE)


def requirement_sets(project_file: dict[str, Any]) -> dict[str, list[str]]:
    """Return the requirements of each file of the lock, by the file's name without suffix.

    ``setup`` is what installs the rest: pip, and what builds the checkout. ``base`` is the program.
    Each extra has a set of its own.
    """
    project = project_file["project"]
    extras = project["optional-dependencies"]
    return {
        "setup": ["pip", *project_file["build-system"]["requires"]],
        "base": project["dependencies"],
        **extras,
    }


def write_lock(*, upgrade: bool) -> None:
    """Write all files of the lock.

    Raises:
        CalledProcessError: uv is not installed or finds no solution; it has said so.
    """
    project_file = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = project_file["project"]["requires-python"].removeprefix(">=")
    sets = requirement_sets(project_file)
    with tempfile.TemporaryDirectory() as folder:
        versions = Path(folder) / "versions.txt"
        if not upgrade:
            # uv keeps the versions that it finds in the file that it is to write.
            locked = [path.read_text(encoding="utf-8") for path in sorted(LOCK.glob("*.txt"))]
            versions.write_text("".join(locked), encoding="utf-8")
        everything = [line for requirements in sets.values() for line in requirements]
        resolved(everything, oldest, "--output-file", versions)
        for name, requirements in sets.items():
            text = resolved(requirements, oldest, "--constraints", versions, "--generate-hashes")
            (LOCK / f"{name}.txt").write_text(HEAD + LEFT_OUT.sub("", text), encoding="utf-8")


def resolved(requirements: list[str], oldest: str, *options: str | Path) -> str:
    """Return the versions that meet requirements on every system, from the oldest Python on."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "-", "--universal", "--quiet"]
    command += ["--python-version", oldest, "--fork-strategy", "fewest", "--no-build"]
    command += ["--no-header", "--no-annotate", *map(str, options)]
    lines = "\n".join(requirements)
    return subprocess.run(
        command, input=lines, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def main(arguments: list[str]) -> int:
    """Write the lock; uv says what is wrong where that fails."""
    if arguments not in ([], ["--upgrade"]):
        print("usage: python packaging/make_lock.py [--upgrade]", file=sys.stderr)
        return 2
    try:
        write_lock(upgrade=bool(arguments))
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
