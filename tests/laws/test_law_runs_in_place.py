"""An approved script finds itself, its neighbours and its project as if nobody stood between it and its caller."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.approvals import Project

from hookline.core.result import Replied

#: Each prints what it found, and refuses. ROOT is the project.
LIB_JS = "module.exports = () => 'lib'"
SHAPES: dict[str, tuple[str, dict[str, str], str]] = {
    "folder of $0": ('run = "hooks/g.sh"', {"hooks/g.sh": '#!/bin/sh\ncd "$(dirname "$0")/.." && pwd >&2; exit 2\n'}, "ROOT"),
    "cut from $0": ('run = "hooks/g.sh"', {"hooks/g.sh": '#!/bin/sh\ncat "${0%/*}/list.txt" >&2; exit 2\n', "hooks/list.txt": "listed"}, "listed"),
    "BASH_SOURCE": ('run = "hooks/g.sh"', {"hooks/g.sh": '#!/usr/bin/env bash\nset -euo pipefail\nHERE="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"\necho "$HERE" >&2; exit 2\n'}, "ROOT/hooks"),
    "main guard": ('run = "bash hooks/g.sh"', {"hooks/g.sh": 'main() { echo main >&2; exit 2; }\n[[ "${BASH_SOURCE[0]}" == "$0" ]] && main "$@"\n'}, "main"),
    "readlink": ('run = "hooks/g.sh"', {"hooks/g.sh": '#!/bin/sh\nreadlink -f "$0" >&2; exit 2\n'}, "ROOT/hooks/g.sh"),
    "git": ('run = "hooks/g.sh"', {"hooks/g.sh": "#!/bin/sh\ncd hooks && git rev-parse --show-toplevel >&2; exit 2\n"}, "ROOT"),
    "agent's variable": ("""shell = '"$CLAUDE_PROJECT_DIR"/hooks/g.sh'""", {"hooks/g.sh": '#!/bin/sh\necho "$CLAUDE_PROJECT_DIR" >&2; exit 2\n'}, "ROOT"),
    "sourced library": ('run = "hooks/g.sh"', {"hooks/g.sh": '#!/bin/bash\n. "$(dirname "$0")/lib/log.sh"\nlog; exit 2\n', "hooks/lib/log.sh": 'log() { echo "from ${BASH_SOURCE[0]##*/}" >&2; }\n'}, "from log.sh"),
    "handed on": ('run = "hooks/g.sh"', {"hooks/g.sh": '#!/bin/sh\nexec "$(dirname "$0")/impl" "$@"\n', "hooks/impl": '#!/bin/sh\necho "impl $0" >&2; exit 2\n'}, "impl ROOT/hooks/impl"),
    "starts itself again": ('run = "bash hooks/g.sh"', {"hooks/g.sh": '[ -n "$AGAIN" ] || AGAIN=1 exec bash "$0" "$@"\necho again >&2; exit 2\n'}, "again"),
    "data at its own end": ('run = "hooks/g.sh"', {"hooks/g.sh": '#!/bin/sh\nsed "1,/^DATA$/d" "$0" >&2; exit 2\nDATA\nat the end\n'}, "at the end"),
    "log beside itself": ('run = "hooks/g.sh"', {"hooks/g.sh": '#!/bin/sh\nD=$(dirname "$0"); echo x >> "$D/guard.log"; mkdir -p "$D/state"; date > "$D/state/last"\necho logged >&2; exit 2\n'}, "logged"),
    "link to a script": ('run = "hooks/link.sh"', {"tools/g.sh": '#!/bin/sh\n. "$(dirname "$(readlink -f "$0")")/lib.sh"\n', "tools/lib.sh": 'echo "$0" >&2; exit 2\n'}, "ROOT/hooks/link.sh"),
    "__file__": ('run = "python3 hooks/g.py"', {"hooks/g.py": "import sys\nfrom pathlib import Path\nsys.exit(2 if sys.stderr.write(str(Path(__file__).resolve().parent.parent)) else 0)\n"}, "ROOT"),
    "sys.argv[0]": ('run = "hooks/g"', {"hooks/g": "#!/usr/bin/env python3\nimport os, sys\nsys.stderr.write(os.path.dirname(os.path.abspath(sys.argv[0])))\nsys.exit(2)\n"}, "ROOT/hooks"),
    "sibling module": ('run = "python3 hooks/g.py"', {"hooks/g.py": "import sys\nfrom common import text\nsys.stderr.write(text)\nsys.exit(2)\n", "hooks/common.py": "text = __name__\n"}, "common"),
    "module path": ('run = "python3 hooks/g.py"', {"hooks/g.py": "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'lib'))\nfrom rules import text\nsys.stderr.write(text)\nsys.exit(2)\n", "lib/rules.py": "text = 'rules'\n"}, "rules"),
    "package": ('run = "python3 -m guard"', {"guard/__init__.py": "", "guard/__main__.py": "import sys\nfrom . import rules\nsys.stderr.write(rules.text)\nsys.exit(2)\n", "guard/rules.py": "text = __package__\n"}, "guard"),
    "configuration beside": ('run = "python3 hooks/g.py"', {"hooks/g.py": "import json, pathlib, sys\nsys.stderr.write(json.loads((pathlib.Path(__file__).parent / 'config.json').read_text())['word'])\nsys.exit(2)\n", "hooks/config.json": '{"word": "configured"}'}, "configured"),
    "function": ('python = "hooks.g:run"', {"hooks/g.py": "import os\ndef run(event):\n    return {'effect': 'deny', 'reason': os.path.dirname(__file__)}\n"}, "ROOT/hooks"),
    "__dirname": ('run = "node hooks/g.js"', {"hooks/g.js": "const lib = require('./lib');\nprocess.stderr.write(__dirname + lib());\nprocess.exit(2);\n", "hooks/lib.js": LIB_JS}, "ROOT/hookslib"),
    "import.meta.url": ('run = "node hooks/g.mjs"', {"hooks/g.mjs": "import { fileURLToPath } from 'node:url';\nimport lib from './lib.mjs';\nprocess.stderr.write(fileURLToPath(new URL('..', import.meta.url)) + lib);\nprocess.exit(2);\n", "hooks/lib.mjs": "export default 'lib';\n"}, "ROOT/lib"),
    "require.main": ('run = "node hooks/g.js"', {"hooks/g.js": "process.stderr.write(require.main.filename);\nprocess.exit(2);\n"}, "ROOT/hooks/g.js"),
    "FindBin": ('run = "perl hooks/g.pl"', {"hooks/g.pl": "use FindBin qw($Bin);\nprint STDERR $Bin; exit 2;\n"}, "ROOT/hooks"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_published_shape_behaves_as_in_place(tmp_path: Path, name: str) -> None:
    action, files, expected = SHAPES[name]
    for program in ("node", "perl", "git"):
        if program in f"{action}{name}" and shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    project = Project(tmp_path, action, files, CLAUDE_PROJECT_DIR="ROOT")
    if name == "git":
        (project.root / ".git").rmdir()
        subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    if name == "link to a script":
        (project.root / "hooks").mkdir()
        os.symlink("../tools/g.sh", project.root / "hooks/link.sh")
    project.approve()
    for _ in range(3):  # its first run changes nothing for the next
        outcome = project.outcome()
        assert type(outcome) is Replied, outcome
        assert outcome.reply is not None
        assert (outcome.reply.effect, outcome.reply.reason) == ("deny", expected.replace("ROOT", str(project.root)))
