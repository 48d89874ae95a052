"""Multiply-accumulates of fused attention operators.

Query x key and probabilities x value are two products of the same M and N: with T keys, S queries
and heads of size D (keys) and V (values), S x T x D and S x V x T. They are counted as one
equivalent product, M = S, N = T, K = D + V, so that groups * M * N * K is their sum.
"""

from __future__ import annotations

from predictor.graph.network import Network, Node
from predictor.graph.work import NO_WORK, Work, product_work


def standard_attention(network: Network, node: Node) -> Work:
    """Count ONNX Attention (opset 23): inputs [B, N, S, D] or [B, S, N * D]."""
    query, key, value = (network.dims_of(node, position) for position in range(3))
    if not query or not key or not value:
        return NO_WORK
    heads = query[1] if len(query) == 4 else node.attributes.integer("q_num_heads", 1)
    kv_heads = key[1] if len(key) == 4 else node.attributes.integer("kv_num_heads", 1)
    past = network.dims_of(node, 4)
    keys = key[-2] + (past[2] if len(past) == 4 else 0)
    head_size = query[-1] if len(query) == 4 else query[-1] // heads
    value_size = value[-1] if len(value) == 4 else value[-1] // kv_heads
    return product_work(query[0] * heads, query[-2], keys, head_size + value_size)


def multi_head_attention(network: Network, node: Node) -> Work:
    """Count com.microsoft MultiHeadAttention: query [B, S, N * D] or packed [B, S, N, 3, D]."""
    query, out = network.dims_of(node, 0), network.dims_of(node, -1)
    if len(query) == 5:
        batch, length, heads, _, size = query
        return product_work(batch * heads, length, length, 2 * size)
    if len(query) != 3 or len(out) != 3:
        return NO_WORK
    heads = max(node.attributes.integer("num_heads", 1), 1)
    key, past = network.dims_of(node, 1), network.dims_of(node, 6)
    keys = query[1]
    if len(key) >= 3:
        keys = key[2] if len(key) == 4 else key[1]
    keys += past[2] if len(past) == 4 else 0
    inner = query[2] // heads + out[2] // heads
    return product_work(query[0] * heads, query[1], keys, inner)


def group_query_attention(network: Network, node: Node) -> Work:
    """Count com.microsoft GroupQueryAttention; causal masking is not deducted."""
    query, out = network.dims_of(node, 0), network.dims_of(node, -1)
    if len(query) != 3 or len(out) != 3:
        return NO_WORK
    heads = max(node.attributes.integer("num_heads", 1), 1)
    past = network.dims_of(node, 3)
    keys = query[1] + (past[2] if len(past) == 4 else 0)
    return product_work(query[0] * heads, query[1], keys, 2 * (out[2] // heads))


def fused_attention(network: Network, node: Node) -> Work:
    """Count com.microsoft Attention and QAttention: projection of [B, S, I] by [I, W], products.

    The sum is written as one product with M = B * S and N the largest of W, hidden size and
    heads that divides it.
    """
    data, weights, out = (network.dims_of(node, position) for position in (0, 1, -1))
    if len(data) != 3 or len(weights) != 2 or len(out) != 3:
        return NO_WORK
    batch, length, width = data
    hidden = out[2]
    heads = max(node.attributes.integer("num_heads", 1), 1)
    past = network.dims_of(node, 4 if node.op == "Attention" else 8)
    keys = length + (past[-2] if len(past) == 5 else 0)
    # Of the projected columns, the values take `hidden`, queries and keys half of the rest each.
    query_width = (weights[1] - hidden) // 2
    per_row = width * weights[1] + keys * (query_width + hidden)
    columns = next(n for n in (weights[1], hidden, heads, 1) if per_row % n == 0)
    return product_work(1, batch * length, columns, per_row // columns)
