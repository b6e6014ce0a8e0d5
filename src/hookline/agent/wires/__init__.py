"""The protocols of the providers: our messages as a request's body, and the events of its answer as ours."""
