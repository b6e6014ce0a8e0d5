"""The documented command: ``python -m hookline.testing.model_server SCRIPT.json``."""

import sys

from hookline.llm.scripted.__main__ import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
