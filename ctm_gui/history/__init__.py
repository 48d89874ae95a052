"""The History tab: past predictions, measurements, project files."""
