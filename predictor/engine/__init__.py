"""The learned engine: what ships as a checkpoint, and the predictions that it makes."""
