"""Sessions that wait to be distilled, and the worker that takes them one at a time."""
