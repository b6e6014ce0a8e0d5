"""The clients of the daemon: ``hookc.c`` and its twin in Python. They share one behaviour and one test suite."""
