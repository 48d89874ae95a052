"""FiLM fine-tuning of the shipped network to one target, in a child process with torch."""
