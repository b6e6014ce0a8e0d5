"""Starts the twin: ``python -I -S start.py hook --agent A …``. A script is compiled anew every time, a module is not."""

import posix
import sys

sys.path.insert(0, __file__.rpartition("/")[0])
from twin import main  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]  # beside this file

del sys.path[0]
# There is nothing to clean up, and the interpreter's own shutdown costs a millisecond.
posix._exit(main(sys.argv[1:]))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
