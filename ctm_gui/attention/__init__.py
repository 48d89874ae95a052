"""The Attention tab: rows and maps of what looks at what."""
