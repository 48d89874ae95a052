"""CloserToMe's engine: from an ONNX file to latencies on hardware that is not on the desk."""

__version__ = "0.1.0"
