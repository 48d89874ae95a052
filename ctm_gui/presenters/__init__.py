"""View state and commands: no widgets."""
