"""Engines against published measurements: ``bound`` on all, ``engine`` on held-out parts."""
