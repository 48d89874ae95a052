"""The Graph tab: the operators of a model in nested boxes, with the time of each."""
