"""The virtual environment of runtimes and converters, in the user's cache folder."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import venv
from pathlib import Path

from platformdirs import user_cache_path

from predictor.core.errors import HostError

RESEARCH = Path(__file__).parents[2]
"""The project: the environment's processes take this package from it, the product from beside."""

# Installed without what they ask for, which is a build of PyTorch with gigabytes of CUDA.
_ALONE = ("timm==1.0.31", "torchvision==0.29.1", "onnx2torch==1.5.15")
_COMPLETE = "complete"


def work_folder() -> Path:
    """Return the folder of environment, converted networks and rows."""
    return user_cache_path("CloserToMe", appauthor=False) / "bridge"


def python_of(folder: Path) -> Path:
    """Return the environment's Python.

    Raises:
        HostError: the environment is not made.
    """
    if not (folder / "environment" / _COMPLETE).exists():
        raise HostError(
            str(folder / "environment"),
            "the environment of runtimes is not made",
            "run python -m ctm_research.bridge setup",
        )
    return _python(folder / "environment")


def _python(environment: Path) -> Path:
    inside = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    return environment / inside


def command(folder: Path, module: str) -> list[str]:
    """Return the command line of a module of research, such as ``bridge.block``, in there.

    The checkout is not installed there, and a variable of the environment would reach our own
    children too.
    """
    places = [str(RESEARCH), str(RESEARCH.parent)]
    start = f"import sys; sys.path[:0] = {places}; "
    start += f"from ctm_research.{module} import main; main()"
    return [str(python_of(folder)), "-W", "ignore", "-c", start]


def make_environment(folder: Path) -> None:
    """Make the environment anew from the pinned requirements.

    Raises:
        HostError: a package cannot be installed.
    """
    environment = folder / "environment"
    (environment / _COMPLETE).unlink(missing_ok=True)
    try:
        venv.create(environment, clear=True, with_pip=True)
        for arguments in (requirements(), ["--no-deps", *_ALONE]):
            subprocess.run(
                [str(_python(environment)), "-m", "pip", "install", *arguments], check=True
            )
        (environment / _COMPLETE).touch()
    except (OSError, subprocess.CalledProcessError) as error:
        raise HostError(
            str(environment), f"it cannot be made ({error})", "check disk and network"
        ) from error


def requirements() -> list[str]:
    """Return the pins of the extra ``bridge``."""
    project = tomllib.loads((RESEARCH / "pyproject.toml").read_text(encoding="utf-8"))
    return [str(pin) for pin in project["project"]["optional-dependencies"]["bridge"]]
