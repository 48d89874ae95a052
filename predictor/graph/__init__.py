"""From an ONNX file to an operator graph."""
