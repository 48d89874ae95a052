"""Measuring on a Linux board over SSH, with the same runner as everywhere.

``connection`` logs in with a key or an agent and checks the host's key (``host_keys``). Over one
channel it starts ``board_agent.py`` there: a program of the standard library that takes files,
starts the runner as a process that outlives the connection, and sends its lines. ``runner`` drives
it, and comes back when the connection is lost. Nothing is installed on the board, and its folder is
removed when the run is over.
"""
