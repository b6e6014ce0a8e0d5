"""Models. Imported only when a hook or an agent uses one; no other package knows an SDK."""
