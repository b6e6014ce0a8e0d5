"""hookline runs the lifecycle hooks of AI agents and shells."""
