"""xonsh with hookline's hooks: every event that lash documents, in a shell that people use.

``patch_points`` is the one table of the places where xonsh is patched; every other module fires the events of one part
of the shell. xonsh is only imported when a shell starts.
"""
