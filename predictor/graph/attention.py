"""Multiply-accumulates of attention.

Attention multiplies query by key and probabilities by value, two products of the same M and N: with
T keys, S queries and heads of size D (keys) and V (values), S x T x D and S x V x T. They are
counted as one equivalent product, M = S, N = T, K = D + V, so that groups * M * N * K is their sum.
"""

from __future__ import annotations

import math

from predictor.graph.arithmetic import NO_ARITHMETIC, Arithmetic, product_arithmetic
from predictor.graph.contrib_rules import is_shared_buffer
from predictor.graph.network import Network, Node


def standard_attention(network: Network, node: Node) -> Arithmetic:
    """Count ONNX Attention (opset 23): inputs [B, N, S, D] or [B, S, N * D]."""
    query, key, value = (network.dims_of(node, position) for position in range(3))
    if not query or not key or not value:
        return NO_ARITHMETIC
    heads = query[1] if len(query) == 4 else node.attributes.integer("q_num_heads", 1)
    kv_heads = key[1] if len(key) == 4 else node.attributes.integer("kv_num_heads", 1)
    # past_key, [B, N, P, D].
    past = network.dims_of(node, 4)
    keys = key[-2] + (past[2] if len(past) == 4 else 0)
    head_size = query[-1] if len(query) == 4 else query[-1] // heads
    value_size = value[-1] if len(value) == 4 else value[-1] // kv_heads
    return product_arithmetic(query[0] * heads, query[-2], keys, head_size + value_size)


def longest_sequence(network: Network, node: Node, offset_at: int) -> int:
    """Return the most keys that a token of a packed batch can have.

    Args:
        network: of the node.
        node: with tokens of several sequences one after the other, [T, ...].
        offset_at: position of ``token_offset``, [B, S].
    """
    tokens, offsets = network.dims_of(node, 0)[0], network.dims_of(node, offset_at)
    return min(tokens, offsets[1]) if len(offsets) == 2 else tokens


def packed_multi_head_attention(network: Network, node: Node) -> Arithmetic:
    """Count com.microsoft PackedMultiHeadAttention: query [T, N * D] or packed [T, N, 3, D]."""
    query, out = network.dims_of(node, 0), network.dims_of(node, -1)
    if len(query) not in (2, 4) or len(out) != 2:
        return NO_ARITHMETIC
    heads = max(node.attributes.integer("num_heads", 1), 1)
    head_size = query[3] if len(query) == 4 else query[1] // heads
    keys = longest_sequence(network, node, 4)
    return product_arithmetic(heads, query[0], keys, head_size + out[1] // heads)


def paged_attention(network: Network, node: Node) -> Arithmetic:
    """Count com.microsoft PagedAttention, with every block of a sequence full of keys."""
    out, cache, table = (network.dims_of(node, position) for position in (-1, 3, 7))
    if len(out) != 2 or len(cache) != 4 or len(table) != 2:
        return NO_ARITHMETIC
    heads = max(node.attributes.integer("num_heads", 1), 1)
    return product_arithmetic(heads, out[0], table[1] * cache[1], cache[-1] + out[1] // heads)


def relative_position_gate(network: Network, node: Node) -> Arithmetic:
    """Count com.microsoft GatedRelativePositionBias: heads of [B, S, N * H] by [H, D]."""
    query, weights = network.dims_of(node, 0), network.dims_of(node, 3)
    if len(weights) != 2:
        return NO_ARITHMETIC
    return product_arithmetic(1, math.prod(query) // max(weights[0], 1), weights[1], weights[0])


def multi_head_attention(network: Network, node: Node) -> Arithmetic:
    """Count com.microsoft MultiHeadAttention: query [B, S, N * D] or packed [B, S, N, 3, D]."""
    query, out = network.dims_of(node, 0), network.dims_of(node, -1)
    if len(query) == 5:
        batch, length, heads, _, size = query
        return product_arithmetic(batch * heads, length, length, 2 * size)
    if len(query) != 3 or len(out) != 3:
        return NO_ARITHMETIC
    heads = max(node.attributes.integer("num_heads", 1), 1)
    # key is [B, T, N * D] or [B, N, T, D], past_key [B, N, P, D].
    key, past = network.dims_of(node, 1), network.dims_of(node, 6)
    keys = query[1]
    if len(key) >= 3:
        keys = key[2] if len(key) == 4 else key[1]
    keys += past[2] if len(past) == 4 else 0
    inner = query[2] // heads + out[2] // heads
    return product_arithmetic(query[0] * heads, query[1], keys, inner)


def group_query_attention(network: Network, node: Node) -> Arithmetic:
    """Count com.microsoft GroupQueryAttention; causal masking is not deducted."""
    query, out = network.dims_of(node, 0), network.dims_of(node, -1)
    if len(query) != 3 or len(out) != 3:
        return NO_ARITHMETIC
    heads = max(node.attributes.integer("num_heads", 1), 1)
    # past_key, [B, KV heads, P, D]: keys are shared, yet every query head multiplies them.
    past = network.dims_of(node, 3)
    keys = query[1] + (past[2] if len(past) == 4 else 0)
    return product_arithmetic(query[0] * heads, query[1], keys, 2 * (out[2] // heads))


def fused_attention(network: Network, node: Node) -> Arithmetic:
    """Count com.microsoft Attention and its kin: projection of [B, S, I] by [I, W], products.

    PackedAttention has its tokens in one axis, [T, I]. The sum is written as one product with
    M = B * S and N the largest of W, hidden size and heads that divides it.
    """
    data, weights, out = (network.dims_of(node, position) for position in (0, 1, -1))
    if len(data) != len(out) or len(data) not in (2, 3) or len(weights) != 2:
        return NO_ARITHMETIC
    width, hidden = data[-1], out[-1]
    heads = max(node.attributes.integer("num_heads", 1), 1)
    if len(data) == 2:
        keys = longest_sequence(network, node, 3)
    else:
        # past holds keys and values together: [2, B, N, P, D]; in a shared buffer the new ones too.
        past = network.dims_of(node, 8 if node.op == "QAttention" else 4)
        cached = past[-2] if len(past) == 5 else 0
        keys = cached if is_shared_buffer(node) and cached else data[1] + cached
    # Of the projected columns, the values take `hidden`, queries and keys half of the rest each.
    query_width = (weights[1] - hidden) // 2
    per_row = width * weights[1] + keys * (query_width + hidden)
    columns = next(n for n in (weights[1], hidden, heads, 1) if per_row % n == 0)
    return product_arithmetic(1, math.prod(data[:-1]), columns, per_row // columns)
