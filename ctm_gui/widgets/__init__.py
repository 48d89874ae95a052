"""Parts that views share: theme, tables, plots, fields."""
