"""A Hugging Face ``config.json`` read as a :class:`DecoderArchitecture`.

The file alone is read, so a model of 405 B parameters needs no more memory or time than a small
one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from predictor.core.errors import InputError
from predictor.core.files import is_file, opened, read_bytes
from predictor.core.text import printable, shortened
from predictor.devices.strict_json import parse_object
from predictor.language.architecture import DecoderArchitecture
from predictor.language.class_defaults import CLASS_DEFAULTS
from predictor.language.families import FAMILIES
from predictor.language.fields import Fields
from predictor.language.quantisation import quantised_format
from predictor.language.stored import HUB_RUNTIMES, DescribedModel, StoredWeights, with_file_bytes

MAX_BYTES: Final = 4_000_000
"""Most bytes of a configuration; one with an id for each of 100 000 labels stays below."""

_HEAD_BYTES = 4096
_INDEX = "model.safetensors.index.json"
_TOTAL = re.compile(rb'"total_size"\s*:\s*(\d{1,15})\b')
_CONFIG = "give the config.json that lies beside it"
# Beginnings of files that lie beside a config.json.
_MAGICS: Final = (
    (b"GGUF", "a GGUF file whose name does not end with .gguf"),
    (b"PK\x03\x04", "a zip archive or a PyTorch checkpoint"),
    (b"\x80\x02", "a PyTorch checkpoint"),
)
# A field, and the kind of file without a model_type that has it.
_OTHER_FILES: Final = (
    ("added_tokens", "a tokenizer"),
    ("added_tokens_decoder", "the configuration of a tokenizer"),
    ("tokenizer_class", "the configuration of a tokenizer"),
    ("weight_map", "the index of a model's weight files"),
    ("peft_type", "an adapter of a model"),
    ("feature_extractor_type", "the configuration of a preprocessor"),
    ("image_processor_type", "the configuration of a preprocessor"),
    ("_diffusers_version", "a part of a diffusion model"),
    ("eos_token_id", "the configuration of generation"),
)
# Objects that hold the language model of a multimodal one. A picture's encoder makes no token: the
# language model alone is read.
_NESTED: Final = ("text_config", "llm_config", "language_config")
# Language models of multimodal ones where these name them otherwise, or not at all.
_OF_PICTURES: Final = {
    "aya_vision": "cohere2",
    "blip-2": "opt",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "idefics2": "mistral",
    "idefics3": "llama",
    "instructblip": "opt",
    "internvl": "qwen2",
    "llama4": "llama4_text",
    "llava": "llama",
    "llava_llama": "llama",
    "llava_mistral": "mistral",
    "llava_next": "llama",
    "llava_next_video": "llama",
    "llava_onevision": "qwen2",
    "llava_qwen": "qwen2",
    "mistral3": "mistral",
    "paligemma": "gemma",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen2_audio": "qwen2",
    "qwen2_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen3_vl_moe_text": "qwen3_moe",
    "qwen3_vl_text": "qwen3",
    "smolvlm": "llama",
    "video_llava": "llama",
    "vipllava": "llama",
}
# Models of another name in the shape of a family.
_SAME: Final = {"minimax_text_01": "minimax", "minimax_m1": "minimax"}
_NO_DECODERS: Final = frozenset({"bert", "modernbert", "vit", "t5"})
_EXPORT: Final = "export it to ONNX, for 'ctm predict'"


def read_config(path: str | os.PathLike[str]) -> DescribedModel:
    """Read a ``config.json``, with the format of its weights as far as its folder states one.

    Raises:
        InputError: it cannot be read, is another file, describes an architecture that is not known,
            or one of its fields is missing or absurd.
    """
    subject = os.fspath(path)
    with opened(path) as (stream, _):
        _refuse_other_files(subject, stream.read(_HEAD_BYTES))
    values = parse_object(read_bytes(path, MAX_BYTES), subject, "config.json", MAX_BYTES)
    described = described_model(values, subject)
    index_bytes = 0 if values.keys() & set(_NESTED) else _index_bytes(Path(path).with_name(_INDEX))
    return with_file_bytes(described, index_bytes, subject) if index_bytes else described


def _index_bytes(path: Path) -> int:
    """Return the bytes of all weights by their index, 0 where there is none that states them."""
    if not is_file(path):
        return 0
    with opened(path) as (stream, _):
        stated = _TOTAL.search(stream.read(_HEAD_BYTES))
    return int(stated[1]) if stated else 0


def described_model(values: Mapping[str, object], subject: str) -> DescribedModel:
    """Return the model that the fields of a ``config.json`` describe.

    Args:
        values: the parsed file.
        subject: its path, for errors and for a name where it states none.

    Raises:
        InputError: see :func:`read_config`.
    """
    kind, values = _language_fields(values, subject)
    fields = Fields(subject, values)
    model = FAMILIES[kind].decoder(fields, _name(subject, values), kind)
    return DescribedModel(model, _stored_weights(fields, model))


def _stored_weights(fields: Fields, model: DecoderArchitecture) -> StoredWeights | None:
    try:
        form = quantised_format(fields, model)
    except InputError as error:
        # Of no matter under a runtime that brings its own format.
        return StoredWeights(error, HUB_RUNTIMES)
    return None if form is None else StoredWeights(form, HUB_RUNTIMES)


def architecture_of(values: Mapping[str, object], subject: str) -> DecoderArchitecture:
    """Return the architecture of :func:`described_model`."""
    return described_model(values, subject).architecture


def _language_fields(
    values: Mapping[str, object], subject: str
) -> tuple[str, Mapping[str, object]]:
    """Return the family of the language model and its fields."""
    kind = values.get("model_type")
    if not isinstance(kind, str):
        raise _without_family(subject, values)
    nested = (inner for name in _NESTED if isinstance(inner := values.get(name), dict))
    text = next(nested, None)
    if kind not in FAMILIES and text is not None:
        inner = text.get("model_type", kind)
        inner = _OF_PICTURES.get(str(inner), str(inner))
        if inner in FAMILIES:
            # The class stands for what the file leaves out; what it states is not null.
            stated = {name: value for name, value in text.items() if value is not None}
            kind, values = inner, {**values, **CLASS_DEFAULTS.get(inner, {}), **stated}
    elif "hidden_size" in values:  # of older versions of transformers, beside those of the encoder
        kind = _OF_PICTURES.get(kind, kind)
    kind = _SAME.get(kind, kind)
    if kind not in FAMILIES:
        raise _unknown(subject, kind)
    return kind, values


def _unknown(subject: str, kind: str) -> InputError:
    if kind in _NO_DECODERS:
        return InputError(subject, f"{kind} is no decoder that generates tokens", _EXPORT)
    nearest = get_close_matches(kind, FAMILIES, n=3, cutoff=0.5) or ["llama", "qwen3"]
    return InputError(
        subject,
        f'its model_type "{shortened(kind, 40)}" is not known',
        f"choose one of the {len(FAMILIES)} families of the page on language models, such as "
        f"{', '.join(nearest)}, or give its decoder in ONNX",
    )


def _name(subject: str, values: Mapping[str, object]) -> str:
    """Name of the model on the hub, else of its folder, else of the file."""
    stated = values.get("_name_or_path")
    if isinstance(stated, str) and stated.count("/") == 1 and stated[0] not in "./~":
        return printable(stated.partition("/")[2]) or "model"
    path = Path(subject)
    return printable(path.absolute().parent.name if path.name == "config.json" else path.stem)


def _refuse_other_files(subject: str, head: bytes) -> None:
    # safetensors: the length of the header in 8 bytes, then the header in JSON.
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 100_000_000:
        raise InputError(subject, "it is a safetensors file of weights", _CONFIG)
    for magic, what in _MAGICS:
        if head.startswith(magic):
            raise InputError(subject, f"it is {what}", _CONFIG)
    # Too large to be parsed as a configuration, yet its head says enough.
    if b'"added_tokens"' in head and b'"model_type"' not in head:
        raise InputError(subject, "it is a tokenizer, not a model's configuration", _CONFIG)


def _without_family(subject: str, values: Mapping[str, object]) -> InputError:
    for field, what in _OTHER_FILES:
        if field in values:
            return InputError(subject, f"it is {what}, not of the model itself", _CONFIG)
    reason = "it states no model_type, so it is not the configuration of a Hugging Face model"
    return InputError(subject, reason, "give the config.json of a language model")
