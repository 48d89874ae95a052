"""Devices: the catalogue with the user's own, this machine, the form."""
