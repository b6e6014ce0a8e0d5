"""An agent's payload in, its answer out: the same code for a cold process and for the daemon."""
