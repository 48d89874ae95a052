"""Where each view stands among the tabs of the window."""

COMPARE_TAB, OPERATORS_TAB, ATTENTION_TAB, DEVICES_TAB, HISTORY_TAB = range(5)
TITLES = ("Compare", "Operators", "Attention", "Devices", "History")
