"""The Compare tab: table, chart, matrix, trade-off and difference of models."""
