"""Signatures of targets: kept, fitted, used by predictions."""
