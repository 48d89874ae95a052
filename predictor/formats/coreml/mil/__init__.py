"""Core ML's Model Intermediate Language (MIL) as ONNX operators."""
