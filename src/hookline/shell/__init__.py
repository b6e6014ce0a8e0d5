"""Hooks inside a shell: xonsh whole, bash and zsh as far as they can.

``gate`` is where every shell asks; ``residence`` keeps the engine that answers for as long as the shell lives.
``xonsh`` fires the events from inside, ``guest`` answers bash and zsh from beside, ``plugins`` come with hookline.
"""
