"""Conversation files (``.lec``): read, written and replayed. Pure: text in, values out.

Where Lectic has a trap, this room does the safe thing:

* header and body are split by one rule, the line that closes the front matter;
* a line of an answer that begins with ``:::`` or like a record gets a backslash in the file, which is removed
  when it is read: no answer can end its own block or pass itself off as a tool's result;
* in files written by others, ``:::`` inside a fence or a comment does not end a block, as long as that fence or
  comment is closed and the block still has an end after it;
* names of interlocutors may hold spaces and dots: the reader knows the configured names;
* all arguments of a tool call are recorded, and decoded when the call is replayed.
"""
