"""Reports: what was predicted, why, how sure and from what, for people who were not there."""
