"""Devices: their file form, the shipped catalogue, and the detection of this machine."""
