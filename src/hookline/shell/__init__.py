"""Hooks inside a shell: xonsh whole, bash and zsh as far as they can."""
