"""Devices: HCV schema, catalogue, detection of this machine."""
