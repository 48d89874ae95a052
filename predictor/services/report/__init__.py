"""Reports: predictions, explanations, uncertainty and sources, readable without the window."""
