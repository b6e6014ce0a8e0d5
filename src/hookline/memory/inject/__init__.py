"""What a new session is given from earlier ones."""
