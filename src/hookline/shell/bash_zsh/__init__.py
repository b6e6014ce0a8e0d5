"""bash and zsh: a script in the shell sends questions to one process beside it, which lives as long as the shell. No
process is started for an event.
"""
