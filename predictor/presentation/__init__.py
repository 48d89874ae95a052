"""How predictions, metrics and reports are worded and laid out, before any format or widget."""
