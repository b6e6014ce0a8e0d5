"""The queue of sessions to distil, and the worker that processes it."""
