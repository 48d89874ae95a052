"""Services for the window and the command line."""
