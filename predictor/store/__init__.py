"""The local store: one SQLite file, its migrations, and one module for each subject."""
