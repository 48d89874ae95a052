"""The models of a load: networks and language models, from its folder, else the bundled samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from predictor.core.errors import InputError
from predictor.core.files import is_there
from predictor.core.resources import resources_dir
from predictor.graph.model import Model
from predictor.services.loads.records import Load, Stage
from predictor.services.models.language import LanguageModel, is_language_file

START_TOKENS: Final = 4
"""Of a speech recogniser's prompt: start of the transcript, language, task, time stamps."""
StageModel = Model | LanguageModel


class ModelKey(NamedTuple):
    """A model of stages: its file as written, open dimensions, and whether it generates tokens."""

    file: str
    dims: tuple[tuple[str, int], ...]
    generates: bool = False


Models = Mapping[ModelKey, StageModel]


def model_key(stage: Stage) -> ModelKey:
    """Return the key of a stage's model among ``Models``."""
    return ModelKey(stage.model, tuple(sorted(stage.dims.items())), stage.generates)


def prompt_of(stage: Stage) -> int:
    """Return the tokens of the prompt of a language model's run."""
    return stage.prompt_tokens or START_TOKENS


def networks(models: Iterable[StageModel]) -> list[Model]:
    """Return the models that are no language models."""
    return [model for model in models if isinstance(model, Model)]


def model_path(folder: Path, name: str) -> Path | None:
    """Return the file of a model from the folder of a load, else of the bundled samples."""
    candidates = folder / name, resources_dir() / "samples" / name
    return next((path for path in candidates if is_there(str(path))), None)


def model_paths(load: Load) -> dict[ModelKey, Path]:
    """Return the file of each model of a load.

    Raises:
        InputError: a file is not there, or it is a language model's and the stage states no
            tokens; with the line of the stage.
    """
    paths: dict[ModelKey, Path] = {}
    for stream in load.streams:
        for stage in stream.stages:
            path = model_path(load.file.path.parent, stage.model)
            if path is None:
                reason = f"there is no file {stage.model}, nor a bundled sample of this name"
                raise load.wrong(stage.line, "model", reason)
            if not stage.generates and (path.is_dir() or is_language_file(str(path))):
                reason = "it is a language model: state prompt_tokens and new_tokens of a run"
                raise load.wrong(stage.line, "model", reason)
            paths[model_key(stage)] = path
    return paths


def read_models(
    load: Load,
    paths: Mapping[ModelKey, Path],
    read: Callable[[ModelKey, Path], StageModel],
) -> dict[ModelKey, StageModel]:
    """Read the models of a load.

    Args:
        load: streams and their stages.
        paths: of all models.
        read: reads one.

    Raises:
        InputError: a file is no such model, or a language model has no prompt or a context that is
            too short; with the line of its stage.
    """
    stages = {model_key(stage): stage for stream in load.streams for stage in stream.stages}
    models: dict[ModelKey, StageModel] = {}
    for key, path in paths.items():
        stage = stages[key]
        try:
            models[key] = read(key, path)
        except OSError as error:
            raise load.wrong(stage.line, "model", f"{path}: {error.strerror}") from error
        except InputError as error:
            raise load.wrong(stage.line, "model", error.reason) from error
    for stream in load.streams:
        for stage in stream.stages:
            _check_tokens(load, stage, models[model_key(stage)])
    return models


def _check_tokens(load: Load, stage: Stage, model: StageModel) -> None:
    """Raise InputError, with its line, for tokens that a language model cannot take or give."""
    if isinstance(model, Model):
        return
    if not stage.prompt_tokens and model.architecture.encoder is None:
        reason = "this stage has none, and its language model needs a prompt"
        raise load.wrong(stage.line, "prompt_tokens", reason)
    tokens, longest = prompt_of(stage) + stage.new_tokens, model.architecture.max_context
    if tokens > longest:
        reason = f"the context of {stage.model} has {longest:,} tokens, and a run takes {tokens:,}"
        raise load.wrong(stage.line, "new_tokens", reason)
