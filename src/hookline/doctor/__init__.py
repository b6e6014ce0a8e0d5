"""Check whether hooks really fire, and say what to type next."""
