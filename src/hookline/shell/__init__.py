"""Hooks inside a shell: xonsh whole, bash and zsh as far as they can.

``dispatcher`` is where every shell asks; ``host`` keeps the engine that answers for as long as the shell lives.
``xonsh`` fires the events from inside, ``guest`` answers bash and zsh from beside, ``plugins`` come with hookline.
"""
