"""Rates of a device, each derived in one function from its facts; the engines read them here."""
