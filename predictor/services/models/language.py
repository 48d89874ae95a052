"""Language models that a user names: a ``config.json``, its folder, or a decoder in ONNX."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from predictor.core.errors import InputError
from predictor.core.files import is_file, is_folder
from predictor.core.progress import CancelToken
from predictor.devices.strict_json import read_object
from predictor.language.architecture import DecoderArchitecture
from predictor.language.config import read_config
from predictor.language.recognise import RecognisedDecoder, recognise
from predictor.services.models.files import MODEL_SUFFIX
from predictor.services.models.ingestion import IngestionWorker

CONFIG = "config.json"
_GENAI = "genai_config.json"


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A language model as its files tell it.

    Attributes:
        path: as the user gave it.
        architecture: of the decoder.
        recognised: what its ONNX file tells of inputs and formats; None for a configuration, which
            tells no format of weights.
    """

    path: str
    architecture: DecoderArchitecture
    recognised: RecognisedDecoder | None = None


def read_language_model(
    path: str | os.PathLike[str],
    worker: IngestionWorker | None = None,
    cancel: CancelToken | None = None,
) -> LanguageModel:
    """Read a language model; neither weights nor external data are read.

    A configuration beside an ONNX file gives its name and what operators do not tell: norms, biases
    and the longest context; that of onnxruntime-genai gives the context.

    Args:
        path: of a ``config.json``, a folder that holds one, or an ONNX file.
        worker: reads ONNX files; one of its own if None.
        cancel: ends the reading of an ONNX file.

    Raises:
        InputError: the file is wrong, or no language model that is known.
        CancelledError: it was cancelled.
    """
    given = os.fspath(path)
    if is_folder(given):
        return LanguageModel(given, read_config(Path(given) / CONFIG))
    if not given.lower().endswith(MODEL_SUFFIX):
        return LanguageModel(given, read_config(given))
    if worker is None:
        with IngestionWorker() as own:
            return read_language_model(given, own, cancel)
    recognised = recognise(worker.ingest(given, cancel=cancel))
    if recognised is None:
        raise InputError(
            given,
            "it is no language model: no decoder from token ids to logits",
            "predict it with 'ctm predict'",
        )
    return LanguageModel(given, _completed(Path(given), recognised), recognised)


def _completed(path: Path, recognised: RecognisedDecoder) -> DecoderArchitecture:
    """Return the architecture with what the files beside it tell."""
    model = recognised.architecture
    stated = _config_beside(path)
    if stated is not None:
        same = (model.layers, model.hidden, model.vocabulary)
        if (stated.layers, stated.hidden, stated.vocabulary) == same:
            return stated
    context = _genai_context(path.with_name(_GENAI))
    return replace(model, max_context=context) if context else model


def _config_beside(path: Path) -> DecoderArchitecture | None:
    beside = path.with_name(CONFIG)
    try:
        return read_config(beside) if is_file(beside) else None
    except InputError:
        return None  # of something else; the ONNX file itself is sound


def _genai_context(path: Path) -> int:
    """Return the context that onnxruntime-genai states, 0 where it states none."""
    try:
        stated = read_object(path).get("model") if is_file(path) else None
    except InputError:
        return 0
    context = stated.get("context_length") if isinstance(stated, dict) else None
    return context if isinstance(context, int) and context > 0 else 0
