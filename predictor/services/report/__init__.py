"""Reports: predictions, explanations, uncertainty and sources, for people who were not there."""
