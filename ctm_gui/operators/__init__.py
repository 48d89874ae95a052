"""The Operators tab: where the time of one model on one target goes."""
