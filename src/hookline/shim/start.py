"""Where registrations made by earlier versions look for the client: ``python -I -S …/hookline/shim/start.py hook …``."""

import runpy

runpy.run_path(__file__.rpartition("/shim/")[0] + "/daemon/client/start.py", run_name="__main__")
