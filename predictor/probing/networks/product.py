"""The file of a single matrix product, which a machine is measured with before any network."""

from __future__ import annotations

from predictor.probing.networks.writer import NetworkWriter, model_bytes

_PERIOD = 4096


def product_model(size: int) -> bytes:
    """Return an ONNX file of the product of an input and a weight, [1, size, size] in FP32."""
    shape = (1, size, size)
    network = NetworkWriter("product")
    factors = network.input("left", shape), network.weight("right", shape[1:], 1.0, _PERIOD)
    return model_bytes(network.finish(network.node("MatMul", "product", factors, shape)))
