"""Budgets of models in a repository: the file that states them, the check, what it writes."""
