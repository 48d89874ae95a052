"""Which reference networks to run on a device, and how to build them.

``selection`` chooses what to measure and needs numpy only. ``networks`` writes the networks and
imports onnx, so it runs in a child process, in tests and in training, never in the window.
"""
