"""The published latencies of whole networks that ship with the program."""
