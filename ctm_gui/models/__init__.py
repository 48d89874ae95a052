"""Qt item models over engine records."""
