"""The resident engine: one process per user that answers what ``hookline hook`` would, a hundred times faster."""
