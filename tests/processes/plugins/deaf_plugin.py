#!/usr/bin/env python3
"""Shakes hands and never reads again."""

import time

from plugin_kit import listen, shake_hands

connection = listen()
shake_hands(connection, connection.makefile("rb"))
time.sleep(600)
