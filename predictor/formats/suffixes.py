"""Endings of the names of model files; imported before anything else of a command."""

ONNX_SUFFIX = ".onnx"
SUFFIXES = (ONNX_SUFFIX, ".tflite", ".lite", ".xml", ".pt2", ".param", ".mlpackage", ".mlmodel")
"""Of the formats that can be opened."""
GGUF = ".gguf"  # of language models alone
