"""Language models that a user names: a ``config.json``, its folder, GGUF or a decoder in ONNX."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from predictor.core.errors import InputError
from predictor.core.files import is_file, is_folder
from predictor.core.progress import CancelToken
from predictor.devices.strict_json import read_object
from predictor.formats.suffixes import GGUF, SUFFIXES
from predictor.graph.model import Model
from predictor.language.architecture import DecoderArchitecture
from predictor.language.config import read_config
from predictor.language.gguf_model import read_gguf_model
from predictor.language.recognise import RecognisedDecoder, recognise
from predictor.language.stored import DescribedModel, StoredWeights
from predictor.services.models.ingestion import IngestionWorker

CONFIG = "config.json"
_GENAI = "genai_config.json"
_HUB_FILES = frozenset(
    {CONFIG, "tokenizer.json", "tokenizer_config.json", "generation_config.json"}
)
_WEIGHTS = (".safetensors", GGUF, ".safetensors.index.json")


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A language model as its files describe it.

    Attributes:
        path: as the user gave it.
        architecture: of the decoder.
        recognised: formats in its ONNX file; None for other files.
        stored: format of the weights by other files; None where they state none.
    """

    path: str
    architecture: DecoderArchitecture
    recognised: RecognisedDecoder | None = None
    stored: StoredWeights | None = None

    @property
    def weights(self) -> str:
        """Name of the format of its ONNX file, empty for other files."""
        return self.recognised.weights if self.recognised else ""

    @property
    def kv_precision(self) -> str:
        """Precision of its cache, the usual fp16 where nothing states one."""
        return (self.recognised and self.recognised.kv_precision) or "fp16"


def read_language_model(
    path: str | os.PathLike[str],
    worker: IngestionWorker | None = None,
    cancel: CancelToken | None = None,
) -> LanguageModel:
    """Read a language model; neither weights nor external data are read.

    A configuration beside an ONNX file gives its name and what operators do not show: norms, biases
    and the longest context; that of onnxruntime-genai gives the context.

    Args:
        path: of a ``config.json``, a folder that holds one, a GGUF or an ONNX file.
        worker: reads ONNX files; one of its own if None.
        cancel: ends the reading of an ONNX file.

    Raises:
        InputError: the file is wrong, or no language model that is known.
        CancelledError: it was cancelled.
    """
    file_path = os.fspath(path)
    if is_folder(file_path):
        return _described(file_path, read_config(Path(file_path) / CONFIG))
    if file_path.lower().endswith(GGUF):
        return _described(file_path, read_gguf_model(file_path))
    if not file_path.lower().endswith(SUFFIXES):
        return _described(file_path, read_config(file_path))
    if worker is None:
        with IngestionWorker() as new_worker:
            return read_language_model(file_path, new_worker, cancel)
    model = language_model_of(worker.ingest(file_path, cancel=cancel))
    if model is None:
        raise InputError(
            file_path,
            "it is no language model: no decoder from token ids to logits",
            "predict it with 'ctm predict'",
        )
    return replace(model, path=file_path)


def _described(path: str, described: DescribedModel) -> LanguageModel:
    return LanguageModel(path, described.architecture, stored=described.stored)


def language_model_of(model: Model) -> LanguageModel | None:
    """Return the language model that an ingested ONNX file is; None where it is none.

    Raises:
        InputError: it is a decoder, but its operators are of no architecture that is known.
    """
    recognised = recognise(model)
    if recognised is None:
        return None
    return LanguageModel(model.path, _completed(Path(model.path), recognised), recognised)


def is_language_file(path: str) -> bool:
    """Whether a file is for :func:`read_language_model`, if only for what it says is wrong.

    A ``config.json``, what lies beside one on the hub, and any JSON that states a ``model_type``.
    """
    name = Path(path).name.lower()
    if name in _HUB_FILES or name.endswith(_WEIGHTS):
        return True
    try:
        return name.endswith(".json") and "model_type" in read_object(Path(path))
    except InputError:
        return False  # the reader of other JSON files reports what is wrong with it


def _completed(path: Path, recognised: RecognisedDecoder) -> DecoderArchitecture:
    """Return the architecture, completed by the configuration files in its folder."""
    model = recognised.architecture
    stated = _stated_config(path)
    if stated is not None:
        same = (model.layers, model.hidden, model.vocabulary)
        if (stated.layers, stated.hidden, stated.vocabulary) == same:
            return stated
    context = _genai_context(path.with_name(_GENAI))
    return replace(model, max_context=context) if context else model


def _stated_config(path: Path) -> DecoderArchitecture | None:
    config = path.with_name(CONFIG)
    try:
        return read_config(config).architecture if is_file(config) else None
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
