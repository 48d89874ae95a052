"""Run the child that a module is, which answers one request, for every line of the input."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import BufferedReader

if __name__ == "__main__":
    child, output = import_module(sys.argv[1]), os.dup(1)
    assert isinstance(sys.stdin.buffer, BufferedReader)
    while sys.stdin.buffer.peek(1):
        child.main()
        # A child may answer on a copy and print whatever it calls to another place from then on.
        os.dup2(output, 1)
