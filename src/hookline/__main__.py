import gc
import os

gc.set_threshold(50_000)  # as ``main`` does it, and before all that it imports
try:
    from hookline.cli import run
except ImportError:  # an isolated Python leaves out the person's own packages, and hookline is one of them
    import site

    site.addsitedir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from hookline.cli import run

run()
