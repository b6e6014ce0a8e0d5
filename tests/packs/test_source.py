"""What people write for a pack, and what it means."""

from __future__ import annotations

import pytest

from hookline.packs.source import parse_source

SHA = "a" * 64


@pytest.mark.parametrize(("text", "kind", "place", "path", "revision"), [
    ("github:o/r", "git", "https://github.com/o/r.git", "", ""),
    ("github:o/r@v1.2", "git", "https://github.com/o/r.git", "", "v1.2"),
    ("github:o/r/a/b@release/1", "git", "https://github.com/o/r.git", "a/b", "release/1"),
    ("https://h/x.git", "git", "https://h/x.git", "", ""),
    ("https://u@h/x.git@v1", "git", "https://u@h/x.git", "", "v1"),
    ("https://h/x.git#path=a/b@v1", "git", "https://h/x.git", "a/b", "v1"),
    ("git@h.org:o/r.git", "git", "git@h.org:o/r.git", "", ""),
    ("git@h.org:o/r.git@v2", "git", "git@h.org:o/r.git", "", "v2"),
    ("ssh://git@h:22/o/r@v2", "git", "ssh://git@h:22/o/r", "", "v2"),
    ("git+https://h/x.zip", "git", "https://h/x.zip", "", ""),
    (f"https://h/x.tar.gz#sha256={SHA}", "archive", "https://h/x.tar.gz", "", ""),
    (f"https://h/x.zip#path=a&sha256={SHA}", "archive", "https://h/x.zip", "a", ""),
    ("./x", "folder", "/here/x", "", ""),
    ("~/x", "folder", "/home/x", "", ""),
    ("pypi:x-y@1.0", "pypi", "x-y", "", "1.0"),
    ("npm:@s/x@1.0.0", "npm", "@s/x", "", "1.0.0"),
    ("npm:@s/x", "npm", "@s/x", "", ""),
    ("hookline:secrets", "own", "secrets", "", ""),
    ("name@owner/repo", "marketplace", "name", "", ""),
])  # fmt: skip
def test_a_source_means_what_it_says(text: str, kind: str, place: str, path: str, revision: str) -> None:
    found = parse_source(text, "/here", "/home")
    assert (found.kind, found.place, found.path, found.revision) == (kind, place, path, revision)
    again = parse_source(found.text, "/here", "/home")
    assert (again.kind, again.place, again.path, again.sha256, again.revision) == (kind, place, path, found.sha256, "")
