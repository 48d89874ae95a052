"""The format of weights that a ``config.json`` states in its ``quantization_config``.

References:
    transformers, ``utils/quantization_config.py``, for methods and their fields.
    compressed-tensors, ``quantization/quant_config.py``; NVIDIA ModelOpt, ``hf_quant_config.json``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from predictor.core.text import shortened
from predictor.language.architecture import DecoderArchitecture
from predictor.language.fields import Fields
from predictor.language.products import Kind
from predictor.language.weights import BITS, WeightFormat, always

_ACTION: Final = "name the format with --weights"
_FLOAT: Final = "f16"
_BYTE: Final = 8  # bits
_EXPERTS: Final = (Kind.EXPERT_UP, Kind.EXPERT_DOWN)


def quantised_format(fields: Fields, model: DecoderArchitecture) -> WeightFormat | None:
    """Return the format of quantised weights; None where the file states none.

    Args:
        fields: of the file.
        model: that the file describes.

    Raises:
        InputError: the method or its bits are not known, or the fields contradict one another.
    """
    stated = fields.part("quantization_config") or fields.part("compression_config")
    if stated is None:
        return None
    method = stated.text("quant_method").lower().replace("-", "_") or _implied(stated)
    read = _METHODS.get(method)
    if read is None:
        name = f'"{shortened(method, 40)}"' if method else "of its quantization_config"
        raise fields.error(f"its quantisation method {name} is not known", _ACTION)
    kind = read(stated)
    if kind not in BITS:
        raise fields.error(f"its quantization_config makes {kind}, which is not known", _ACTION)
    form = WeightFormat(
        name=_name(kind), matrices=kind, vectors=_FLOAT, embedding=_FLOAT, head=_FLOAT
    )
    if method == "mxfp4":
        kinds = tuple((part, kind) for part in _EXPERTS)
        return replace(form, matrices=_FLOAT, kinds=kinds, experts=always(kind))
    return replace(form, kinds=tuple((part, _FLOAT) for part in _skipped(stated, model)))


def _name(kind: str) -> str:
    """Return the name of a format as users give it."""
    return {"nf4_double": "nf4"}.get(kind, kind.replace("_", "-"))


def _implied(stated: Fields) -> str:
    """Return the method that fields imply where none is named, as older files do."""
    if stated.states("load_in_4bit") or stated.states("load_in_8bit"):
        return "bitsandbytes"
    return "compressed_tensors" if stated.states("config_groups") else ""


def _integers(stated: Fields) -> str:
    """Return the type of whole numbers in groups."""
    bits = stated.count("bits", "bits", "w_bit", "nbits", default=4)
    return _grouped(stated, bits, "group_size", "q_group_size")


def _grouped(stated: Fields, bits: int, *names: str) -> str:
    group = stated.count("hidden", *names, default=128, minimum=-1) if names else -1
    if bits == _BYTE and group <= 0:
        return "int8"
    return f"int{bits}_{group if group > 0 else 'column'}"


def _half_quadratic(stated: Fields) -> str:
    inner = stated.part("quant_config")
    weights = inner and inner.part("weight_quant_params")
    return _integers(weights or stated)


def _bitsandbytes(stated: Fields) -> str:
    four, eight = stated.flag("load_in_4bit"), stated.flag("load_in_8bit")
    if four == eight:
        what = "both" if four else "neither"
        raise stated.error(
            f"its quantization_config switches load_in_4bit and load_in_8bit {what} on", _ACTION
        )
    if eight:
        return "int8"
    return "nf4_double" if stated.flag("bnb_4bit_use_double_quant") else "nf4"


def _compressed(stated: Fields) -> str:
    """Return the type of the groups of compressed-tensors, which must be of one type."""
    groups = stated.part("config_groups")
    kinds = {_compressed_type(group) for group in _parts(groups)} if groups else set()
    if len(kinds) != 1:
        types = ", ".join(sorted(kinds)) or "no type"
        raise stated.error(f"its quantization_config states {types} of weights, not one", _ACTION)
    return kinds.pop()


def _parts(groups: Fields) -> Iterator[Fields]:
    for name in groups.names():
        group = groups.part(name)
        weights = group.part("weights") if group else None
        if weights is not None:
            yield weights


def _compressed_type(weights: Fields) -> str:
    bits = weights.count("bits", "num_bits")
    if weights.text("type") == "float":
        return {_BYTE: "fp8", 4: "nvfp4"}.get(bits, f"fp{bits}")
    grouped = weights.text("strategy") == "group" or weights.states("group_size")
    return _grouped(weights, bits, *(("group_size",) if grouped else ()))


def _modelopt(stated: Fields) -> str:
    algorithm = stated.text("quant_algo").upper()
    return {"FP8": "fp8", "NVFP4": "nvfp4", "W4A16_AWQ": "int4_128", "W4A8_AWQ": "int4_128"}.get(
        algorithm, shortened(algorithm, 40) or "nothing"
    )


def _quanto(stated: Fields) -> str:
    weights = stated.text("weights")
    return {"float8": "fp8", "int8": "int8"}.get(weights, f"{weights}_128")


_METHODS: Final[dict[str, Callable[[Fields], str]]] = {
    "gptq": _integers,
    "gptq_marlin": _integers,
    "awq": _integers,
    "awq_marlin": _integers,
    "auto_round": _integers,
    "auto_awq": _integers,
    "hqq": _half_quadratic,
    "eetq": lambda _: "int8",
    "quanto": _quanto,
    "fp8": lambda _: "fp8",
    "fbgemm_fp8": lambda _: "fp8",
    "bitsandbytes": _bitsandbytes,
    "compressed_tensors": _compressed,
    "modelopt": _modelopt,
    "modelopt_fp4": lambda _: "nvfp4",
    "mxfp4": lambda _: "mxfp4",
}
_OF_A_LAYER: Final = re.compile(r"\.\d+(\.|$)")
# Names of modules that are left out, and what they hold; routers are never quantised.
_PARTS: Final = (
    (re.compile(r"self_attn|\battention\b"), (Kind.QKV, Kind.OUTPUT)),
    (re.compile(r"(?<!shared_)experts"), _EXPERTS),
    (re.compile(r"\b(mlp|feed_forward)\W*$"), (Kind.UP, Kind.DOWN, *_EXPERTS)),
)
_LEFT_OUT: Final = ("modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules")


def _skipped(stated: Fields, model: DecoderArchitecture) -> Iterator[Kind]:
    """Yield the kinds of matrices that the file leaves in 16 bits in all layers."""
    entries = [entry for field in _LEFT_OUT for entry in stated.items(field)]
    for pattern, kinds in _PARTS:
        names = [n for n in entries if isinstance(n, str) and pattern.search(n)]
        everywhere = any(not _OF_A_LAYER.search(name) for name in names)
        if everywhere or len(names) >= model.layers:
            yield from kinds
