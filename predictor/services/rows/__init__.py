"""Rows of many models: their text, made here, in child processes or on a Dask cluster."""
