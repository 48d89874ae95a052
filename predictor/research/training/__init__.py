"""Training of the network that the engine ships, on the whole corpus."""
