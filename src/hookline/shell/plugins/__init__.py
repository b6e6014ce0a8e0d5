"""Plugins that come with hookline. Each is a program of its own that speaks lash's protocol over a socket.

``protocol`` is lash's protocol in seventy lines; nothing of hookline's engine is needed to write a plugin.
"""
