import os
import sys

from hookline.cli import main

code = main()
if sys.argv[1:2] in (["hook"], ["fire"]):
    # Everything is closed and written; the interpreter's own tidying would cost an agent five milliseconds more.
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # a hook may have closed them
        pass
    os._exit(code)
raise SystemExit(code)
