"""Events that an agent does not fire, made up from what it does say, and marked as such."""
