"""Two hundred texts that try to be more than text."""

from __future__ import annotations

_PAYLOADS = (
    "<script>hacked=1</script>", "<img src=x onerror=hacked=1>", "<svg onload=hacked=1>", "</title><script>hacked=1</script>",
    "</textarea><script>hacked=1</script>", "<iframe srcdoc='<script>parent.hacked=1</script>'>", "<a href=javascript:hacked=1>x</a>",
    "javascript:hacked=1", "'\"><script>hacked=1</script>", "`${hacked=1}`", "{{constructor.constructor('hacked=1')()}}",
    "<math><mtext><style><img src=x onerror=hacked=1>", "<body onload=hacked=1>", "<details open ontoggle=hacked=1>",
    "<input autofocus onfocus=hacked=1>", "<object data=javascript:hacked=1>", "<base href=//evil.test/>",
    "<meta http-equiv=refresh content=0;url=//evil.test>", "<link rel=stylesheet href=//evil.test/x.css>", "<style>*{display:none}</style>",
    "&lt;script&gt;hacked=1&lt;/script&gt;", "&#60;script&#62;", "%3Cscript%3Ehacked=1%3C/script%3E", "\\u003cscript\\u003ehacked=1",
    "]]><script>hacked=1</script>", "<!--<script>hacked=1//-->", "<!DOCTYPE html>", "<?php hacked(); ?>", "__proto__", "constructor",
    "toString", "hasOwnProperty", "null", "undefined", "NaN", "data: {}\n\nevent: gap\n\n", "\r\nSet-Cookie: x=1", "../../../etc/passwd",
    "/etc/passwd", "file:///etc/passwd", "' OR 1=1 --", "'; DROP TABLE firings; --", "%' OR '1'='1", "_%_", "\x1b[2J\x1b]0;x\x07", "\u202egnp.exe",
    "\u2066x\u2069", "\u200b\u200b", "\ufeffx", "\x00x", "\x07\x08", "a\nb\tc", "🦄" * 30, "\U0010ffff", "é" * 40, "x" * 3000,
)  # fmt: skip
_WRAPS = ("{}", "a {} b", '"{}"', "<b>{}</b>")
STRINGS = [
    wrap.format(text.replace("{", "{{").replace("}", "}}")) if "{" in text else wrap.format(text)
    for wrap in _WRAPS
    for text in _PAYLOADS
][:200]
assert len(set(STRINGS)) == 200
