"""State and commands of the probing wizard: plans, runs, imports, signatures."""
