"""A language model on the ticked devices: first token, tokens a second, memory, curves."""
