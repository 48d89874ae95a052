"""Project files: export, import, conflicts."""
