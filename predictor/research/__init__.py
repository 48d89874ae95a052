"""Corpus, training, comparators and evaluation: in a checkout only, not in the wheel."""
