"""The learned engine: the shipped checkpoint, and the predictions that it makes."""
