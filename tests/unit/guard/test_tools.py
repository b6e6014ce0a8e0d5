"""Tool calls of agents: files, addresses, MCP tools, and shells under their own names."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.guard import Policy, Surroundings, judge_tool

AROUND = Surroundings(cwd="/work/app", home="/home/me")
PATCH = "*** Begin Patch\n*** Update File: src/a.py\n*** Add File: {}\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "values", "standard", "strict"),
    [
        ("Bash", {"command": "rm -rf /"}, "deny", "deny"),
        ("Bash", {"command": ["bash", "-lc", "rm -rf /"]}, "deny", "deny"),
        ("Bash", {"command": "ls"}, "none", "none"),
        ("Write", {"file_path": "src/a.py", "content": "x"}, "none", "none"),
        ("Write", {"file_path": "/etc/passwd", "content": "x"}, "deny", "deny"),
        ("Write", {"file_path": "/etc/x/y.conf", "content": "x"}, "ask", "ask"),
        ("Write", {"file_path": "/data/x", "content": "x"}, "none", "ask"),
        ("Write", {"file_path": "/tmp/x", "content": "x"}, "none", "none"),
        ("Edit", {"file_path": "~/.bashrc"}, "ask", "ask"),
        ("Edit", {"file_path": ".git/hooks/pre-commit"}, "ask", "ask"),
        ("Edit", {"file_path": ".claude/settings.json"}, "ask", "ask"),
        ("Edit", {"file_path": ".hookline/hookline.toml"}, "deny", "deny"),
        ("Edit", {"file_path": "/home/me/.config/hookline/hookline.toml"}, "deny", "deny"),
        ("Edit", {"file_path": "package-lock.json"}, "none", "ask"),
        ("Edit", {"file_path": ".github/workflows/ci.yml"}, "none", "ask"),
        ("Edit", {"file_path": ".env"}, "none", "ask"),
        ("MultiEdit", {"file_path": "../other/x"}, "none", "ask"),
        ("NotebookEdit", {"notebook_path": "a.ipynb"}, "none", "none"),
        ("apply_patch", {"input": PATCH.format("src/b.py")}, "none", "none"),
        ("apply_patch", {"input": PATCH.format(".hookline/hookline.toml")}, "deny", "deny"),
        ("Read", {"file_path": "src/a.py"}, "none", "none"),
        ("Read", {"file_path": "/home/me/.ssh/id_rsa"}, "ask", "ask"),
        ("Read", {"file_path": ".env"}, "none", "ask"),
        ("Grep", {"path": "/home/me/.aws/credentials", "pattern": "x"}, "ask", "ask"),
        ("Glob", {"path": "/home/me/.ssh"}, "none", "none"),
        ("WebFetch", {"url": "https://x.example"}, "none", "none"),
        ("WebFetch", {"url": "http://169.254.169.254/latest/meta-data"}, "ask", "ask"),
        ("WebFetch", {"url": "file:///home/me/.ssh/id_rsa"}, "ask", "ask"),
        ("WebFetch", {"url": "https://x.example/?" + "a" * 500}, "none", "ask"),
        ("WebFetch", {"url": "https://x.example/?k=ghp_" + "a" * 36}, "ask", "ask"),
        ("WebFetch", {"url": "https://x.example/?k=$API_KEY"}, "none", "ask"),
        ("WebFetch", {"url": "https://x.example/sk-learn-tutorial"}, "none", "none"),
        ("WebFetch", {"url": "https://x.example/sk-learn-tutorial-and-more-of-it"}, "none", "none"),
        ("WebFetch", {"url": "https://x.example/?q=AIza" + "b" * 35}, "ask", "ask"),
        ("WebFetch", {"url": "https://x.example/?k=-----BEGIN+RSA+PRIVATE+KEY-----"}, "ask", "ask"),
        ("WebFetch", {"url": "https://x.example/?password=correct-horse"}, "ask", "ask"),
        ("WebFetch", {"url": "https://x.example/?api_key=0123456789abcdef"}, "none", "ask"),
        ("WebFetch", {"url": "https://x.example/?api_key=YOUR_API_KEY"}, "none", "none"),
        ("WebFetch", {"url": "https://x.example/?d=QVdTX1NFQ1JFVF9BQ0NFU1NfS0VZPWFiY2RlZg=="}, "ask", "ask"),
        ("WebFetch", {"url": "https://x.example/a/0123456789abcdef0123456789abcdef01234567"}, "none", "none"),
        (
            "WebFetch",
            {"url": "https://b.s3.example/x?X-Amz-Security-Token=abcdefgh&X-Amz-Signature=00"},
            "none",
            "none",
        ),
        ("WebFetch", {"url": "https://me:hunter22@x.example/"}, "none", "ask"),
        ("mcp__web__fetch", {"uri": "https://x.example/?secret=0123456789"}, "ask", "ask"),
        ("mcp__http__request", {"url": "https://x.example", "body": {"k": "ghp_" + "a" * 36}}, "ask", "ask"),
        ("mcp__http__request", {"url": "https://x.example", "body": "hello"}, "none", "none"),
        ("mcp__files__write_file", {"path": "/etc/passwd"}, "deny", "deny"),
        ("mcp__files__read_file", {"path": "/home/me/.ssh/id_rsa"}, "ask", "ask"),
        ("mcp__db__query", {"sql": "DROP TABLE users"}, "ask", "ask"),
        ("mcp__db__query", {"sql": "SELECT 1"}, "none", "none"),
        ("mcp__cloud__delete_bucket", {"name": "x"}, "none", "ask"),
        ("mcp__mail__send_message", {"to": "x"}, "none", "ask"),
        # other names, other forms
        ("BASH", {"command": "rm -rf ~"}, "deny", "deny"),
        ("run_command", {"CommandLine": "rm -rf ~"}, "deny", "deny"),
        ("write_to_file", {"TargetFile": "/etc/passwd"}, "deny", "deny"),
        ("Write", {"file_path": "a.txt", "path": "/etc/passwd"}, "deny", "deny"),
        ("Write", {"file_path": "$HOME/.bashrc"}, "ask", "ask"),
        ("Write", {"file_path": "/etc/passwd\0.txt"}, "deny", "deny"),
        ("Write", {"file_path": "./" * 5000 + "../../etc/passwd"}, "deny", "deny"),
        ("Grep", {"pattern": ".", "glob": ".env"}, "none", "ask"),
        ("apply_patch", {"input": "--- /etc/passwd\n+++ /etc/passwd\n@@"}, "deny", "deny"),
        ("apply_patch", {"input": "rename from x\nrename to .git/hooks/pre-commit"}, "ask", "ask"),
        ("apply_patch", {"input": "*** Begin Patch\r\n*** Update File: /etc/passwd\r\n"}, "deny", "deny"),
        ("shell", {"command": ["apply_patch", PATCH.format("/etc/passwd")]}, "deny", "deny"),
        ("Bash", {"command": f"apply_patch <<'E'\n{PATCH.format('/etc/passwd')}\nE"}, "deny", "deny"),
        ("WebFetch", {"url": "file:/etc/shadow"}, "ask", "ask"),
        ("WebFetch", {"url": "file://localhost/home/me/%2essh/id_rsa"}, "ask", "ask"),
        ("WebFetch", {"url": "http://2852039166/latest"}, "ask", "ask"),
        ("WebFetch", {"url": "http://[fd00:ec2::254]/latest"}, "ask", "ask"),
        ("WebFetch", {"url": "http://METADATA.google.internal/x"}, "ask", "ask"),
        ("WebFetch", {"url": "https://x.example/?k=" + ("ghp_" + "aB1" * 12).encode().hex()}, "ask", "ask"),
        ("WebFetch", {"url": "https://x.example/?k=%2567%2568%2570%255f" + "a" * 36}, "ask", "ask"),
        ("WebFetch", {"url": "https://x.example/8080/12345678"}, "none", "none"),
        ("mcp__fs__writeFile", {"uri": "file:///etc/passwd"}, "deny", "deny"),
        ("MCP__FS__WRITE_FILE", {"path": "/etc/passwd"}, "deny", "deny"),
        ("mcp__fs__move_file", {"source": "a", "destination": ".git/hooks/pre-commit"}, "ask", "ask"),
        ("mcp__fs__move_file", {"source": "/home/me", "destination": "/tmp/x"}, "ask", "ask"),
        ("mcp__fs__copy_file", {"source": "/home/me/.ssh/id_rsa", "destination": "x"}, "ask", "ask"),
        ("mcp__fs__move_file", {"source": "a.py", "destination": "b.py"}, "none", "none"),
        ("mcp__fs__rm", {"path": "/home/me"}, "deny", "deny"),
        ("mcp__fs__delete", {"target": "/home/me"}, "deny", "deny"),
        ("mcp__db__query", {"sql": "/* x */ DROP/**/TABLE users"}, "ask", "ask"),
        ("mcp__db__execute", {"statements": ["select 1", "DROP SCHEMA public CASCADE"]}, "ask", "ask"),
        ("mcp__search__query", {"query": "how to drop table users"}, "none", "none"),
        ("mcp__chat__post_message", {"text": "ghp_" + "a" * 36}, "ask", "ask"),
        ("mcp__http__get", {"url": "https://x", "headers": {"X": "BEGIN RSA PRIVATE KEY"}}, "ask", "ask"),
        ("mcp__ide__getDiagnostics", {"uri": "file:///work/app/a.ts"}, "none", "none"),
        ("Unheard", {"path": 7}, "none", "none"),
    ],
)
def test_a_tool_call_is_judged_by_what_it_touches(
    tool: str, values: dict[str, Any], standard: str, strict: str
) -> None:
    found = [judge_tool(tool, values, policy=name, around=AROUND).verdict for name in ("standard", "strict")]
    assert found == [standard, strict]


def test_reading_in_the_project_is_granted_by_choice() -> None:
    policy = Policy(allow_read_only=True)
    paths = ("src/a.py", ".env")
    assert [judge_tool("Read", {"file_path": one}, policy=policy, around=AROUND).verdict for one in paths] == [
        "allow",
        "none",
    ]


@pytest.mark.parametrize(
    ("tool", "values", "verdict"),
    [
        ("mcp__shell__run_command", {"command": "r''m -rf ~"}, "deny"),
        ("mcp__box__exec", {"argv": ["bash", "-c", "rm -rf ~"]}, "deny"),
        ("mcp__files__delete_directory", {"path": "/home/me"}, "deny"),
        ("mcp__files__delete_file", {"path": "src/old.py"}, "none"),
        ("mcp__shell__run_command", {"command": "npm test"}, "none"),
        ("mcp__shell__execute", {"command": "rm", "args": ["-rf", "/"]}, "deny"),
        ("mcp__shell__execute_command", {"input": "rm -rf ~"}, "deny"),
        ("mcp__tmux__send_keys", {"keys": "rm -rf ~"}, "deny"),
        ("mcp__py__execute_python", {"code": "import shutil; shutil.rmtree('/')"}, "deny"),
        ("mcp__node__eval", {"code": "require('child_process').execSync('rm -rf ~')"}, "deny"),
        ("mcp__k8s__kubectl", {"command": "kubectl delete ns prod"}, "ask"),
        ("mcp__jupyter__execute_cell", {"code": "df.drop(columns=['x'])"}, "none"),
        ("mcp__notes__add", {"command": "rm -rf ~"}, "none"),
    ],
)
def test_what_a_server_is_told_to_run_or_delete_is_judged_as_a_command(
    tool: str, values: dict[str, object], verdict: str
) -> None:
    assert judge_tool(tool, values, around=AROUND).verdict == verdict
