"""From a finished session to decisions, failures and learnings, with the help of a model."""
