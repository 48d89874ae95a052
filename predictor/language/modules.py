"""Parts of a decoder's layers other than grouped attention and feed-forward blocks.

Latent attention, state spaces, linear attention and short convolutions stand in the place of
attention in all or some layers, or beside it. All of them come down to the same few counts.

References:
    DeepSeek-V2, arXiv:2405.04434, section 2.1, for latent attention with absorbed projections, as
    llama.cpp runs it: the cache holds one latent vector and one rotary key a token.
    Mamba, arXiv:2312.00752, and Mamba-2, arXiv:2405.21060; Gated DeltaNet, arXiv:2412.06464;
    MiniMax-01, arXiv:2501.08313, for lightning attention.
    transformers, ``models/*/modeling_*.py``, for shapes of matrices and vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from predictor.language.products import Kind, Product, Rows

STATE_BYTES: Final = 4  # of an element of a state: runtimes keep it in float32
# A step decays an element of the state, adds to it and reads it.
_MACS_OF_STATE: Final = 3


class Matrix(NamedTuple):
    """A matrix of one layer.

    Attributes:
        name: of the tensor in llama.cpp.
        inner: K of the product; rows of a table.
        columns: N of the product.
        looked_up: whether it is a table of which a token reads one row.
    """

    name: str
    inner: int
    columns: int
    looked_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """Matrices, vectors and state of some layers.

    Attributes:
        layers: that have it.
        matrices: of one layer.
        vectors: parameters of a layer beside them: norms, biases, short convolutions, decays.
        cached: elements that a token adds to the cache of a layer.
        state: elements of a sequence that a layer rewrites at each token, in float32.
        score_heads: query heads that meet each token of the cache, 0 where none does.
        score_macs: multiply-accumulates of a head with one token of the cache.
        token_macs: multiply-accumulates of a token beside those of the matrices.
    """

    layers: int
    matrices: tuple[Matrix, ...]
    vectors: int = 0
    cached: int = 0
    state: int = 0
    score_heads: int = 0
    score_macs: int = 0
    token_macs: int = 0

    def products(self) -> Iterator[Product]:
        """Yield the products of its matrices."""
        for name, inner, columns, looked_up in self.matrices:
            kind = Kind.OUTPUT if name.endswith(("output", "out")) else Kind.QKV
            product = Product(name, kind, self.layers, inner, columns)
            if looked_up:
                product = product._replace(kind=Kind.EMBEDDING, rows=Rows.LOOKED_UP)
            yield product


def latent_attention(
    layers: int,
    hidden: int,
    heads: int,
    *,
    query_rank: int,
    rank: int,
    plain_dim: int,
    rotary_dim: int,
    value_dim: int,
) -> Module:
    """Return attention over a latent vector of ``rank`` elements a token (MLA).

    Args:
        layers: that have it.
        hidden: width of the residual stream.
        heads: query heads.
        query_rank: width of the queries' latent vector, 0 where they have none.
        rank: of keys and values.
        plain_dim: width of a head's key without positions.
        rotary_dim: width of the rotary key, which all heads share.
        value_dim: width of a head's values.
    """
    queries = heads * (plain_dim + rotary_dim)
    return Module(
        layers=layers,
        matrices=(
            *((Matrix("attn_q_a", hidden, query_rank),) if query_rank else ()),
            Matrix("attn_q_b" if query_rank else "attn_q", query_rank or hidden, queries),
            Matrix("attn_kv_a_mqa", hidden, rank + rotary_dim),
            Matrix("attn_k_b", rank, heads * plain_dim),
            Matrix("attn_v_b", rank, heads * value_dim),
            Matrix("attn_output", heads * value_dim, hidden),
        ),
        vectors=query_rank + rank,
        cached=rank + rotary_dim,
        score_heads=heads,
        score_macs=2 * rank + rotary_dim,
    )


def mamba(layers: int, hidden: int, inner: int, state: int, kernel: int, step_rank: int) -> Module:
    """Return a selective state space of ``inner`` channels with ``state`` elements each (Mamba).

    With norms over what the step, input and output depend on, as Jamba has them.
    """
    return Module(
        layers=layers,
        matrices=(
            Matrix("ssm_in", hidden, 2 * inner),
            Matrix("ssm_x", inner, step_rank + 2 * state),
            Matrix("ssm_dt", step_rank, inner),
            Matrix("ssm_out", inner, hidden),
        ),
        # Convolution with its bias, bias of the step, decays, the channels' skip, and norms.
        vectors=inner * (kernel + 1) + inner + inner * state + inner + step_rank + 2 * state,
        state=inner * (state + kernel - 1),
        token_macs=_MACS_OF_STATE * inner * state + inner * kernel,
    )


def mamba2(
    layers: int,
    hidden: int,
    *,
    inner: int,
    heads: int,
    groups: int,
    state: int,
    kernel: int,
    normed: bool,
) -> Module:
    """Return a state space whose channels share their decays by heads (Mamba-2).

    Args:
        layers: that have it.
        hidden: width of the residual stream.
        inner: channels.
        heads: that they are shared among.
        groups: of heads that share input and output vectors.
        state: elements a channel.
        kernel: of the convolution before it.
        normed: whether a norm stands before its output.
    """
    convolved = inner + 2 * groups * state
    return Module(
        layers=layers,
        matrices=(
            Matrix("ssm_in", hidden, inner + convolved + heads),
            Matrix("ssm_out", inner, hidden),
        ),
        vectors=convolved * (kernel + 1) + 3 * heads + inner * normed,
        state=inner * state + convolved * (kernel - 1),
        token_macs=_MACS_OF_STATE * inner * state + convolved * kernel,
    )


def delta_net(
    layers: int, hidden: int, key_heads: int, key_dim: int, heads: int, value_dim: int, kernel: int
) -> Module:
    """Return linear attention with a gated delta rule, as Qwen3-Next has it."""
    keys, values = key_heads * key_dim, heads * value_dim
    convolved, state = 2 * keys + values, heads * key_dim * value_dim
    return Module(
        layers=layers,
        matrices=(
            Matrix("ssm_in", hidden, 2 * keys + 2 * values),
            Matrix("ssm_ba", hidden, 2 * heads),
            Matrix("ssm_out", values, hidden),
        ),
        vectors=convolved * kernel + 2 * heads + value_dim,
        state=state + convolved * (kernel - 1),
        token_macs=_MACS_OF_STATE * state + convolved * kernel,
    )


def lightning_attention(layers: int, hidden: int, heads: int, head_dim: int) -> Module:
    """Return linear attention with a fixed decay and a gate, as MiniMax has it."""
    width, state = heads * head_dim, heads * head_dim * head_dim
    return Module(
        layers=layers,
        matrices=(
            Matrix("attn_qkv", hidden, 3 * width),
            Matrix("attn_gate", hidden, width),
            Matrix("attn_output", width, hidden),
        ),
        vectors=width,
        state=state,
        token_macs=_MACS_OF_STATE * state,
    )


def short_convolution(layers: int, hidden: int, kernel: int, *, bias: bool) -> Module:
    """Return a gated convolution over the last ``kernel`` tokens, as LFM2 has it."""
    return Module(
        layers=layers,
        matrices=(
            Matrix("shortconv.in_proj", hidden, 3 * hidden),
            Matrix("shortconv.out_proj", hidden, hidden),
        ),
        vectors=hidden * kernel + bias * 5 * hidden,
        state=hidden * kernel,
        token_macs=hidden * kernel,
    )


def per_layer_inputs(
    layers: int, hidden: int, vocabulary: int, width: int, streams: int, rank: int
) -> tuple[Module, Module]:
    """Return the inputs by layer of Gemma 3n: a module of the whole model, and one of each layer.

    Args:
        layers: of the model.
        hidden: width of the residual stream.
        vocabulary: rows of the table that gives each layer an input of its own.
        width: of such an input.
        streams: copies of the residual stream, of which one passes the layers (AltUp).
        rank: of the branch beside attention (LAUREL).
    """
    ends = Module(
        layers=1,
        matrices=(
            Matrix("per_layer_token_embd", vocabulary, layers * width, looked_up=True),
            Matrix("per_layer_model_proj", hidden, layers * width),
            Matrix("altup_proj", hidden, (streams - 1) * hidden),
            Matrix("altup_unembd_proj", hidden, (streams - 1) * hidden),
        ),
        vectors=width,
    )
    inside = Module(
        layers=layers,
        matrices=(
            Matrix("inp_gate", hidden, width),
            Matrix("proj", width, hidden),
            Matrix("laurel_l", hidden, rank),
            Matrix("laurel_r", rank, hidden),
            Matrix("altup_router", hidden, streams),
            Matrix("altup_predict_coef", streams, streams * streams),
            Matrix("altup_correct_coef", streams, streams),
        ),
        vectors=4 * hidden,
    )
    return ends, inside
