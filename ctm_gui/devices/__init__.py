"""The Devices tab: the library, its form, this machine."""
