"""The tools of a conversation: programs, SQLite files, MCP servers and other interlocutors."""
