"""The running prediction, explanations of one pair, what-ifs."""
