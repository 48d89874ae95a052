"""A Hugging Face ``config.json`` read as a :class:`DecoderArchitecture`.

The file alone is read, so a model of 405 B parameters needs no more memory or time than a small
one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from predictor.core.errors import InputError
from predictor.core.files import opened, read_bytes
from predictor.core.text import printable, shortened
from predictor.devices.strict_json import parse_object
from predictor.language.architecture import DecoderArchitecture
from predictor.language.class_defaults import CLASS_DEFAULTS
from predictor.language.families import FAMILIES
from predictor.language.fields import Fields

MAX_BYTES: Final = 4_000_000
"""Most bytes of a configuration; one with an id for each of 100 000 labels stays below."""

_HEAD_BYTES = 4096
_CONFIG = "give the config.json that lies beside it"
# Beginnings of files that lie beside a config.json.
_MAGICS: Final = (
    (b"GGUF", "a GGUF file of weights"),
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
# Language models of multimodal ones where these name them otherwise, or not at all. A picture's
# encoder makes no token: the language model alone is read.
_OF_PICTURES: Final = {
    "blip-2": "opt",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "llama4": "llama4_text",
    "llava": "llama",
    "llava_next": "llama",
    "paligemma": "gemma",
    "vipllava": "llama",
    "qwen2_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe_text": "qwen3_moe",
}
# Models of another name in the shape of a family.
_SAME: Final = {"minimax_text_01": "minimax", "minimax_m1": "minimax"}
_NO_DECODERS: Final = frozenset({"bert", "modernbert", "vit", "t5"})
_EXPORT: Final = "export it to ONNX, for 'ctm predict'"


def read_config(path: str | os.PathLike[str]) -> DecoderArchitecture:
    """Read a ``config.json``.

    Raises:
        InputError: it cannot be read, is another file, describes an architecture that is not known,
            or one of its fields is missing or absurd.
    """
    subject = os.fspath(path)
    with opened(path) as (stream, _):
        _refuse_other_files(subject, stream.read(_HEAD_BYTES))
    values = parse_object(read_bytes(path, MAX_BYTES), subject, "config.json", MAX_BYTES)
    return architecture_of(values, subject)


def architecture_of(values: Mapping[str, object], subject: str) -> DecoderArchitecture:
    """Return the architecture that the fields of a ``config.json`` describe.

    Args:
        values: the parsed file.
        subject: its path, for errors and for a name where it states none.

    Raises:
        InputError: see :func:`read_config`.
    """
    kind = values.get("model_type")
    if not isinstance(kind, str):
        raise _without_family(subject, values)
    text = values.get("text_config")
    if kind not in FAMILIES and isinstance(text, dict):
        inner = text.get("model_type", kind)
        inner = _OF_PICTURES.get(str(inner), str(inner))
        if inner in FAMILIES:
            # The class stands for what the file leaves out; what it states is not null.
            stated = {name: value for name, value in text.items() if value is not None}
            kind, values = inner, {**values, **CLASS_DEFAULTS.get(inner, {}), **stated}
    elif "hidden_size" in values:  # of older versions of transformers, beside those of the encoder
        kind = _OF_PICTURES.get(kind, kind)
    kind = _SAME.get(kind, kind)
    family = FAMILIES.get(kind)
    if family is None:
        raise _unknown(subject, kind)
    return family.decoder(Fields(subject, values), _name(subject, values), kind)


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
