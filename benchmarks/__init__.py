"""Measured against what is possible; run as the programs run."""

from predictor.core.libraries import settle_libraries

settle_libraries()
