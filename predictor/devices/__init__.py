"""Devices: their file form, the shipped catalogue, and what this machine is."""
