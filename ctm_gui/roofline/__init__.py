"""The roofline: operators under the roofs of a target."""
