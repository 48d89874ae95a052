"""Model files of any format; other than ONNX, each is read into the ONNX model of its network."""
