"""Looking after hooks: what there is, how it has been doing, switching, adding, deleting and trying.

``catalog``, ``browse``, ``tables`` and ``draft`` are pure; ``files`` and ``trial`` touch the world; ``app`` shows it.
"""
