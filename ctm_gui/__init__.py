"""CloserToMe's window."""
