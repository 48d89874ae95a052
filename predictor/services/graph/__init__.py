"""The picture of a model: its operators in nested groups, and where each group stands."""
