"""Engines against published measurements: ``bound`` on all, ``engine`` and ``judge`` on unseen."""
