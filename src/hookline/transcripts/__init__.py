"""What agents wrote down of a session, read as one kind of message.

One reader per agent; each gives a stream of ``Message`` and never holds a whole file.
"""
