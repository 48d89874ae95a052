"""Model files: found, read in a child process, described."""
