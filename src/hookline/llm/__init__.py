"""The door to models. Nothing in here is imported unless a hook asks a model, and no other room knows an SDK."""
