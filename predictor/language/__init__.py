"""Language models in plain numbers: what they hold, multiply and remember a token."""
