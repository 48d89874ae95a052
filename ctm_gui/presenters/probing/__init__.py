"""What the wizard of probing shows and does: plans, runs, imports, signatures."""
