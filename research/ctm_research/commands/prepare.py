"""The prepared targets of a checkpoint, written anew for all shipped devices."""

from __future__ import annotations

import zipfile
from pathlib import Path

from ctm_research.training.prepared import write_prepared
from predictor.core.errors import HostError, InputError
from predictor.engine.targets.prepared import PREPARED
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.targets import resolve_targets


def prepare_targets(folder: Path) -> Path:
    """Write it for every shipped device in its usual configuration, as ``--all`` asks for them.

    Args:
        folder: of a checkpoint whose estimate is written.

    Returns:
        The file.

    Raises:
        InputError: the folder has no estimate, or a damaged one.
        HostError: the file cannot be written.
    """
    try:
        write_prepared(folder, resolve_targets(load_catalogue().devices))
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile, FileNotFoundError) as error:
        raise InputError(
            str(folder), f"it holds no whole estimate ({error})", "train it with --estimate-only"
        ) from error
    except OSError as error:
        raise HostError(
            str(folder / PREPARED),
            f"it cannot be written ({error.strerror})",
            "check the folder and the disk",
        ) from error
    return folder / PREPARED
