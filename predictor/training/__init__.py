"""What engines learn from: published measurements and their operator graphs."""
