"""Registering hookline with the agents: plan without touching anything, then write it or take it back."""
