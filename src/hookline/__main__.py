import os
import sys

try:
    from hookline.cli import main
except ImportError:  # an isolated Python leaves out the person's own packages, and hookline is one of them
    import site

    site.addsitedir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
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
