"""The frame: main window, menus, settings, help, session, and all state behind it."""
