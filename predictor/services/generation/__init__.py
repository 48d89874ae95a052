"""Language models on devices: time to first token, tokens a second, memory."""
