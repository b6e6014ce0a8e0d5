"""Published hook sets: where they come from, what they contain, and which exact bytes a person approved."""
