"""Formats of weights: the bits that each matrix of a decoder takes in a file and in memory.

Blocked types share a scale among the weights of a block, so that their bits are no whole number.
The mixed types of llama.cpp (``q4_k_m``) give some layers of some matrices more bits.

References:
    ggml, ``ggml-common.h``, for the layout of blocks: q4_0 is 32 x 4 bits and one float16.
    llama.cpp, ``llama-quant.cpp`` (``llama_tensor_get_type``), for the type of each tensor, and
    ``convert_hf_to_gguf.py`` for what stays in float32: vectors, routers, learned positions.
    onnxruntime, docs/ContribOperators.md, MatMulNBits: 4 bits, a scale and a zero point a block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.language.architecture import DecoderArchitecture
from predictor.language.ggml_types import GGML_TYPES
from predictor.language.products import TABLE, Kind, Product, Rows

FLOAT8: Final = "fp8"
BITS: Final[dict[str, float]] = (
    {kind.name: kind.bits for kind in GGML_TYPES.values()}
    | {
        "int8": 8,
        # As MLC packs it: a float16 scale a block of 32, no zero point.
        "q4f16": 4 + 16 / 32,
        # A float32 scale a block of 128 by 128, or a column: a thousandth of a bit.
        FLOAT8: 8,
        # bitsandbytes: a float32 scale a block of 64, or one of 8 bits and a float32 for 256 of it.
        "nf4": 4 + 32 / 64,
        "nf4_double": 4 + 8 / 64 + 32 / (64 * 256),
    }
    | {
        # GPTQ, AWQ and kin: a float16 scale and a zero point of as many bits a group.
        f"int{bits}_{group}": bits + (16 + bits) / group
        for bits in (2, 3, 4, 8)
        for group in (16, 32, 64, 128, 256, 512, 1024)
    }
    | {f"int{bits}_column": bits for bits in (2, 3, 4)}
)
"""Bits of one weight by type, scales and zero points included."""

_SUPER_BLOCK = 256
_BLOCK = 32
# Types in blocks of 256, and what stands in where the rows of a matrix are no multiple of it.
_FALLBACK: Final = {
    "q2_k": "iq4_nl",
    "q3_k": "iq4_nl",
    "q4_k": "q5_0",
    "q5_k": "q5_1",
    "q6_k": "q8_0",
}
_IN_BLOCKS: Final = frozenset({"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl", "mxfp4"})
# Families whose query, key and value matrices llama.cpp stores as one.
_FUSED_QKV: Final = frozenset({"gpt2", "falcon", "phi", "phi3", "bloom", "gpt_neox", "mpt", "dbrx"})
_EIGHT = 8
# Beside eight experts the matrices of attention are small: more bits cost them little.
_WITH_EIGHT: Final = {"attn_k": "q8_0", "attn_v": "q8_0", "attn_output": "q5_k"}
_LAYERS_OF_70B = 80
_UNIFORM: Final = frozenset({"f32", "f16", "bf16", "q8_0"})
_TABLES: Final = frozenset({Kind.POSITIONS, Kind.ROUTER})

LayerType = Callable[[DecoderArchitecture, int], str]
"""Type of a matrix in one layer, the first of which is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFormat:
    """A format of a whole model.

    Attributes:
        name: as the user gives it.
        matrices: type of matrices that nothing else is said of.
        vectors: type of norms and biases.
        embedding: type of the embedding table; empty for that of matrices.
        head: type of the head; empty for that of matrices.
        kinds: types of kinds of matrices that are of another type.
        tensors: mean bits of tensors by their name, as a file of these weights has them.
        file_bytes: of all weights in that file; 0 where none was read.
        is_gguf: whether llama.cpp's exceptions hold.
        attn_v, ffn_down, attn_output, attn_qkv, experts: types of these matrices; None for that of
            matrices.
    """

    name: str
    matrices: str
    vectors: str
    embedding: str = ""
    head: str = ""
    kinds: tuple[tuple[Kind, str], ...] = ()
    tensors: tuple[tuple[str, float], ...] = ()
    file_bytes: int = 0
    is_gguf: bool = False
    attn_v: LayerType | None = None
    ffn_down: LayerType | None = None
    attn_output: LayerType | None = None
    attn_qkv: LayerType | None = None
    experts: LayerType | None = None

    def bits(self, model: DecoderArchitecture, product: Product) -> float:
        """Return the mean bits of one weight of a product over its layers.

        Those of a tied head are those of the embedding table, which it reads.
        """
        name = product.name if product.stored else TABLE
        stated = next((bits for tensor, bits in self.tensors if tensor == name), None)
        return _mean_bits(self, model, product) if stated is None else stated

    def layer_bits(self, model: DecoderArchitecture, product: Product, layer: int) -> float:
        """Return the bits of one weight of a product in one of its layers, the first is 0."""
        return BITS[self.layer_type(model, product, layer)]

    def layer_type(self, model: DecoderArchitecture, product: Product, layer: int) -> str:
        """Return the type of a product in one of its layers."""
        return _type(self, model, product, layer)

    def model_bytes(self, model: DecoderArchitecture) -> float:
        """Return the bytes of all weights, as llama-bench states a model's size."""
        if self.file_bytes:
            return self.file_bytes
        products = model.products()
        matrices = sum(p.weights * self.bits(model, p) for p in products)
        vectors = model.norm_parameters() + sum(p.biases for p in products)
        return (matrices + vectors * BITS[self.vectors]) / 8

    def host_bytes(self, model: DecoderArchitecture) -> float:
        """Return the bytes of the tables of input tokens that no head multiplies with."""
        tied = TABLE if model.tied_embeddings else ""
        tables = (p for p in model.products() if p.kind is Kind.EMBEDDING and p.name != tied)
        return sum(p.weights * self.bits(model, p) for p in tables) / 8


@lru_cache(maxsize=4096)
def _mean_bits(form: WeightFormat, model: DecoderArchitecture, product: Product) -> float:
    layers = range(product.layers)
    # A kind of layer that the model has none of holds no matrix.
    return sum(form.layer_bits(model, product, layer) for layer in layers) / max(len(layers), 1)


def _type(form: WeightFormat, model: DecoderArchitecture, product: Product, layer: int) -> str:
    """Return the type of a matrix in one of its layers."""
    if not form.is_gguf:
        ends = {Kind.EMBEDDING: form.embedding, Kind.HEAD: form.head}
        # A tied head reads the table.
        ends |= {} if product.stored else {Kind.HEAD: form.embedding}
        ends |= dict(form.kinds)
        plain = product.kind in _TABLES or product.kind is Kind.CONVOLUTION
        return ends.get(product.kind) or (form.vectors if plain else form.matrices)
    if product.kind in _TABLES:
        return "f32"
    if product.kind is Kind.CONVOLUTION:
        return "f16"
    # Blocks lie along the rows that are read: along K, and in a table along its columns.
    row = product.columns if product.rows is Rows.LOOKED_UP else product.inner
    return _fitting(_gguf_type(form, model, product, layer), row)


def _gguf_type(form: WeightFormat, model: DecoderArchitecture, product: Product, layer: int) -> str:
    tied_table = product.name == TABLE and model.tied_embeddings
    if product.kind is Kind.HEAD or tied_table:
        return _head_type(form, model)
    if product.kind is Kind.EMBEDDING:
        return form.embedding or form.matrices
    if product.kind in {Kind.EXPERT_UP, Kind.EXPERT_DOWN} and form.experts:
        return form.experts(model, layer)
    name = product.name
    if product.kind is Kind.QKV and model.family in _FUSED_QKV:
        rule = form.attn_qkv
    elif model.experts == _EIGHT and name in _WITH_EIGHT and form.matrices not in _UNIFORM:
        kind = _WITH_EIGHT[name]
        return kind if BITS[kind] > BITS[form.matrices] else form.matrices
    else:
        part = "ffn_down" if name.startswith("ffn_down") else name
        rules = {"attn_v": form.attn_v, "ffn_down": form.ffn_down, "attn_output": form.attn_output}
        rule = rules.get(part)
    kind = rule(model, layer) if rule else form.matrices
    # Eight heads share the values of such a model, so more bits cost little.
    is_70b = model.layers == _LAYERS_OF_70B and model.heads > model.kv_heads
    return "q5_k" if is_70b and name == "attn_v" and kind in {"q3_k", "q4_k"} else kind


def _head_type(form: WeightFormat, model: DecoderArchitecture) -> str:
    if form.head:
        return form.head
    # whisper.cpp makes no exception for the head.
    if form.matrices in _UNIFORM or model.family == "whisper":
        return form.matrices
    return "q8_0" if model.family == "falcon" else "q6_k"


def _fitting(kind: str, inner: int) -> str:
    """Return the type that stands in where rows of ``inner`` weights are no multiple of a block."""
    if kind in _FALLBACK and inner % _SUPER_BLOCK:
        kind = _FALLBACK[kind]
    return "f16" if kind in _IN_BLOCKS and inner % _BLOCK else kind


def _more_bits(layer: int, layers: int) -> bool:
    """Whether a layer is among the first and last eighth, or every third between them."""
    first = layers // 8
    return layer < first or layer >= 7 * layers // 8 or (layer - first) % 3 == 2


def _selected(more: str, rest: str) -> LayerType:
    return lambda model, layer: more if _more_bits(layer, model.layers) else rest


def _first(share: int, more: str, rest: str) -> LayerType:
    return lambda model, layer: more if layer < model.layers // share else rest


def always(kind: str) -> LayerType:
    """Return the rule that all layers have one type."""
    return lambda _model, _layer: kind


def _leading(count: int, more: str, rest: str) -> LayerType:
    return lambda _model, layer: more if layer < count else rest


def _by_sharing(shared: str, other: str) -> LayerType:
    """``shared`` where four query heads or more share their values."""
    return lambda model, _layer: shared if model.heads >= 4 * model.kv_heads else other


def _gguf(
    name: str,
    matrices: str,
    attn_v: LayerType | None = None,
    ffn_down: LayerType | None = None,
    attn_output: LayerType | None = None,
    attn_qkv: LayerType | None = None,
    experts: LayerType | None = None,
) -> WeightFormat:
    return WeightFormat(
        name=name,
        matrices=matrices,
        vectors="f32",
        embedding="",
        head="",
        is_gguf=True,
        attn_v=attn_v,
        ffn_down=ffn_down,
        attn_output=attn_output,
        attn_qkv=attn_qkv,
        experts=experts,
    )


_ALL: Final = (
    WeightFormat(name="fp32", matrices="f32", vectors="f32"),
    WeightFormat(name="fp16", matrices="f16", vectors="f16"),
    WeightFormat(name="bf16", matrices="bf16", vectors="bf16"),
    # A float32 scale a column is left out: a hundredth of a bit.
    WeightFormat(name="int8", matrices="int8", vectors="f16", embedding="f16", head="int8"),
    WeightFormat(
        name="int4-32", matrices="int4_32", vectors="f16", embedding="f16", head="int4_32"
    ),
    WeightFormat(name="int4-128", matrices="int4_128", vectors="f16", embedding="f16", head="f16"),
    WeightFormat(name="q4f16", matrices="q4f16", vectors="f16"),
    *(
        WeightFormat(name=name, matrices=name, vectors="f16", embedding="f16", head="f16")
        for name in ("fp8", "nf4", "nvfp4")
    ),
    _gguf("f16", "f16"),
    _gguf("q8_0", "q8_0"),
    _gguf("q6_k", "q6_k"),
    _gguf("q5_0", "q5_0"),
    _gguf("q5_1", "q5_1"),
    _gguf("q5_k_s", "q5_k"),
    _gguf(
        "q5_k_m",
        "q5_k",
        attn_v=_selected("q6_k", "q5_k"),
        ffn_down=_selected("q6_k", "q5_k"),
        attn_qkv=always("q6_k"),
    ),
    _gguf("q4_0", "q4_0"),
    _gguf("q4_1", "q4_1"),
    _gguf("q4_k_s", "q4_k", attn_v=_leading(4, "q5_k", "q4_k"), ffn_down=_first(8, "q5_k", "q4_k")),
    _gguf(
        "q4_k_m",
        "q4_k",
        attn_v=_selected("q6_k", "q4_k"),
        ffn_down=_selected("q6_k", "q4_k"),
        attn_qkv=always("q5_k"),
    ),
    _gguf("q3_k_s", "q3_k"),
    _gguf(
        "q3_k_m",
        "q3_k",
        attn_v=_leading(2, "q5_k", "q4_k"),
        ffn_down=_first(16, "q5_k", "q4_k"),
        attn_output=always("q4_k"),
        attn_qkv=always("q4_k"),
    ),
    _gguf(
        "q3_k_l",
        "q3_k",
        attn_v=always("q5_k"),
        ffn_down=always("q5_k"),
        attn_output=always("q5_k"),
        attn_qkv=always("q4_k"),
    ),
    _gguf(
        "q2_k",
        "q2_k",
        attn_v=_by_sharing("q4_k", "q3_k"),
        ffn_down=always("q3_k"),
        attn_output=always("q3_k"),
    ),
    _gguf("mxfp4", "q8_0", experts=always("mxfp4")),
)
_GROUPED: Final = {
    name.replace("_", "-"): WeightFormat(
        name=name.replace("_", "-"), matrices=name, vectors="f16", embedding="f16", head="f16"
    )
    for name in BITS
    if name.startswith("int") and "_" in name
}
# Types of single tensors in GGUF files, without the exceptions of mixed formats.
_UNIFORM_GGUF: Final = {
    name: _gguf(name, name) for name in BITS if name.startswith(("iq", "tq", "q1_"))
}
FORMATS: Final[dict[str, WeightFormat]] = {form.name: form for form in _ALL}
"""Formats by the name that a user gives; the mixed ones and q*_* are those of llama.cpp."""

_SAME: Final = {
    "f32": "fp32",
    "int4": "int4-32",
    "q4f16_1": "q4f16",
    "q3_k": "q3_k_m",
    "q4_k": "q4_k_m",
    "q5_k": "q5_k_m",
}

KV_BITS: Final[dict[str, float]] = {"fp32": 32, "fp16": 16, "bf16": 16, "int8": 8} | {
    kind: BITS[kind] for kind in ("q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
}
"""Bits of one element of a KV cache by the precision that a user gives."""


def weight_format(name: str) -> WeightFormat:
    """Return a format by its name, in capitals too.

    Raises:
        InputError: there is none of that name.
    """
    form = _format(name)
    if form is None:
        raise InputError(
            f"weights {shortened(name, 40)}",
            "there is no such format",
            f"give one of these: {', '.join(FORMATS)}, or int4-64 and other groups of 2, 3, 4 and "
            "8 bits",
        )
    return form


def has_format(name: str) -> bool:
    """Whether there is a format of a name."""
    return _format(name) is not None


def _format(name: str) -> WeightFormat | None:
    plain = name.strip().lower()
    return FORMATS.get(_SAME.get(plain, plain)) or _GROUPED.get(plain) or _UNIFORM_GGUF.get(plain)
