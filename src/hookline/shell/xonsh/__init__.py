"""xonsh with hookline's hooks in it: every event of lash's document, fired by a shell that people use.

``points`` is the one table of places where xonsh is wrapped; each other module fires the events of one part
of the shell. xonsh itself is imported only when a shell starts.
"""
