"""Hooks inside a shell: all events in xonsh, as many as possible in bash and zsh.

``dispatcher`` fires the events of every shell; ``engine_host`` keeps the engine while the shell runs. ``xonsh`` works
inside the shell, ``bash_zsh`` in a process beside it. ``plugins`` come with hookline.
"""
