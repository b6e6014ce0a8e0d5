"""A short, honest show: a real project, real processes, real decisions, in a temporary directory."""
