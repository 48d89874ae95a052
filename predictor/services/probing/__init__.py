"""Probing: plans, sessions here, over SSH and by kit, imports of other tools' results."""
