"""Pictures of every view, with real models."""
