"""The chat: an agent small enough to read, and the reference for what each event means."""
