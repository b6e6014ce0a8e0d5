"""The demo: a real project with real processes and decisions, in a temporary directory."""
