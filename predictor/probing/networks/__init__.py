"""Reference networks, built from their architecture codes; see ``spaces`` for the way in."""
