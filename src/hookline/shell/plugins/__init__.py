"""Plugins that come with hookline. Each is a program of its own that speaks lash's protocol over a socket.

``speaking`` is the protocol in eighty lines; nothing of hookline's engine is needed to write a plugin.
"""
