"""The model files of a load: from its folder, else the bundled samples."""

from __future__ import annotations

from pathlib import Path

from predictor.core.files import is_there
from predictor.core.resources import resources_dir
from predictor.services.loads.carry import ModelKey, model_key
from predictor.services.loads.records import Load


def model_paths(load: Load) -> dict[ModelKey, Path]:
    """Return the file of each model of a load.

    Raises:
        InputError: a file is not there; with the line of its stage.
    """
    paths: dict[ModelKey, Path] = {}
    for stream in load.streams:
        for stage in stream.stages:
            candidates = (
                load.file.path.parent / stage.model,
                resources_dir() / "samples" / stage.model,
            )
            path = next((path for path in candidates if is_there(str(path))), None)
            if path is None:
                reason = f"there is no file {stage.model}, nor a bundled sample of this name"
                raise load.wrong(stage.line, "model", reason)
            paths[model_key(stage)] = path
    return paths
