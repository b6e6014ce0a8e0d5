#!/usr/bin/env python3
"""Never answers a hook: it hangs."""

from plugin_kit import serve

serve(lambda connection, message: None)
