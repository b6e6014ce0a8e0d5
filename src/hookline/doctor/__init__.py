"""Does it work? What is looked at, what is tried, and what a person should type next."""
