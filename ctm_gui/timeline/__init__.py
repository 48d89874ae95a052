"""The timeline: operators one after another, their parts and modules."""
