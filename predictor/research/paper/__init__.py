"""The network as the paper prints it."""
