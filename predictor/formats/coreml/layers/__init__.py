"""Layers of Core ML neural networks before ML Programs as ONNX operators."""
