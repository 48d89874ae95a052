"""The local SQLite store."""
