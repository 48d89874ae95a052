"""Reference networks: chosen for a device, built from codes, measured, read from other tools.

``selection`` chooses networks and needs numpy only. ``networks`` writes the networks and
imports onnx, so it runs in a child process, in tests and in training, never in the window.
"""
