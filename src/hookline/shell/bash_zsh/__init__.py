"""bash and zsh: shells that are not ours. A script in the shell asks; one process beside it, for as long as the shell
lives, answers. No process is started for an event.
"""
