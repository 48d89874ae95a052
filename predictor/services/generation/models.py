"""Language models from the files that a user has."""

from __future__ import annotations

from pathlib import Path

from predictor.core.errors import InputError
from predictor.core.wording import number
from predictor.language.architecture import DecoderArchitecture
from predictor.language.config import read_config


def read_language_model(path: str) -> DecoderArchitecture:
    """Read the decoder of a ``config.json``, or of the folder that it lies in.

    Raises:
        InputError: the file cannot be read or is no configuration of a known decoder.
    """
    file = Path(path)
    if file.is_dir():
        file /= "config.json"
    if file.suffix.casefold() == ".onnx":
        raise InputError(
            path,
            "the lengths of an ONNX graph are fixed, so its two phases are not told apart here",
            "give the config.json of the model it was exported from",
        )
    return read_config(file)


def size_of(model: DecoderArchitecture) -> str:
    """Return the parameters of a model in words, of experts those of a token too."""
    size = f"{number(model.parameters() / 1e9)} B parameters"
    if model.experts:
        size += f", {number(model.active_parameters() / 1e9)} B of them a token"
    return size
