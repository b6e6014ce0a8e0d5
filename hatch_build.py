"""A wheel for one platform brings the native client along; without HOOKLINE_WHEEL the wheel is pure Python.

``HOOKLINE_WHEEL=x86_64-linux-musl python -m build --wheel`` needs ziglang. ``make dist`` builds all of them. A pure wheel
builds the client at the first ``hookline deploy`` if there is a compiler, and uses the client in Python otherwise.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_TAGS = {
    "x86_64-linux-musl": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "aarch64-linux-musl": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "x86_64-macos": "macosx_11_0_x86_64",
    "aarch64-macos": "macosx_11_0_arm64",
}
_PACKAGE_PATH = "hookline/daemon/client/hookc"


class NativeClient(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        target = os.environ.get("HOOKLINE_WHEEL", "")
        if self.target_name != "wheel" or version == "editable" or not target:
            return
        if target not in _TAGS:
            sys.exit(f"HOOKLINE_WHEEL must be one of {', '.join(_TAGS)}; got {target!r}")
        sys.path.insert(0, os.path.join(self.root, "src"))
        from hookline.daemon.client.build import cross_compile

        self._folder = tempfile.TemporaryDirectory(prefix="hookline-wheel-")
        binary = os.path.join(self._folder.name, "hookc")
        cross_compile(binary, target)
        build_data["force_include"][binary] = _PACKAGE_PATH
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_TAGS[target]}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()
