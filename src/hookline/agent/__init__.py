"""Our own agent: conversation files (``run``) and an interactive session (``chat``), which fire every event."""
