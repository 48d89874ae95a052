"""Reports on pages: laid out once, then painted the same into PDF, preview and printer."""
