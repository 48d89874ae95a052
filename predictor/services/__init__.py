"""What the window and the command line may call."""
