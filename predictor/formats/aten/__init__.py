"""PyTorch's ATen operators as ONNX operators."""
