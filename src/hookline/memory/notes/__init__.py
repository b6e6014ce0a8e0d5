"""The files that sessions leave behind: written, indexed, searched and forgotten."""
