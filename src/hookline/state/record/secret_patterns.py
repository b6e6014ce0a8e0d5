"""What secrets look like: a table of token shapes, and names that announce a secret.

Every expression is anchored on a literal or bounded, so that none is worse than linear on a long text. Each
row has ``marks``: lower-case words one of which is in every text that it can match, so that most texts are
cleared by plain substring tests and most expressions are never even compiled.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from hookline.core._dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    kind: str
    marks: tuple[str, ...]
    pattern: str
    #: A further word that must be in the text, where the mark alone is too common.
    also: str = ""
    #: What stands around the replacement; ``\\g<keep>`` groups survive.
    before: str = ""
    after: str = ""
    flags: int = re.ASCII

    def may_be_in(self, lower: str) -> bool:
        for mark in self.marks:
            if mark in lower:
                return self.also in lower
        return False


#: Not in the middle of a word; but the end of an escape (JSON in a text) is no part of one.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
_BASE64 = r"[A-Za-z0-9._~+/=-]"
_NAMES = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|credential|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key"
    r"|encryption[_-]?key|account[_-]?key|auth[_-]?key|client[_-]?key|token(?!s|iz|_?count|_?usage|_?limit))"
)
#: A quoted text, a text in quotes that are themselves escaped (JSON inside JSON), or everything up to a space.
_ASSIGNED = (
    r'(?:"(?:[^"\\]|\\.)*"?|\'(?:[^\'\\]|\\.)*\'?'
    r'|\\{1,8}["\'](?:[^"\'\\]|\\\\+["\']|\\\\+[^"\'])*(?:\\{0,8}["\'])?'
    r"|(?!\[redacted:)[^\s\"'&;]+)"
)

#: How names that announce a secret are spelled, in lower case.
_KEYS = ("api", "access", "private", "signing", "encryption", "account", "auth", "client")
_KEY_NAMES = tuple(f"{which}{joint}key" for which in _KEYS for joint in ("", "_", "-"))
_PLAIN_NAMES = ("password", "passwd", "passphrase", "secret", "credential")
_ANNOUNCING = (*_PLAIN_NAMES, "pwd", "token", "_key", "-key", *(f"{which}key" for which in _KEYS))

SHAPES: tuple[Shape, ...] = (
    Shape(
        kind="private-key",
        marks=("-----begin",),
        pattern=r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)",
        flags=re.ASCII | re.DOTALL,
    ),
    Shape(kind="anthropic", marks=("sk-ant-",), pattern=r"sk-ant-[A-Za-z0-9_-]{8,}"),
    Shape(kind="openai", marks=("sk-",), pattern=_START + r"sk-[A-Za-z0-9_-]{16,}"),
    Shape(
        kind="github",
        marks=("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        pattern=r"(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,}",
    ),
    Shape(kind="gitlab", marks=("glpat-",), pattern=r"glpat-[A-Za-z0-9_-]{16,}"),
    Shape(kind="aws", marks=("akia", "asia"), pattern=r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    Shape(kind="google", marks=("aiza", "ya29.", "gocspx-"), pattern=r"(?:AIza|ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}"),
    Shape(
        kind="slack",
        marks=("xox", "xapp-", "hooks.slack.com/"),
        pattern=r"(?:xox[a-z]-|xapp-)[A-Za-z0-9-]{8,}|(?<=hooks\.slack\.com/)[A-Za-z0-9/]{12,}",
    ),
    Shape(
        kind="stripe",
        marks=("k_live_", "k_test_", "whsec_"),
        pattern=r"(?:[sprSPR]k_(?:live|test)_|whsec_)[A-Za-z0-9]{8,}",
    ),
    Shape(kind="sendgrid", marks=("sg.",), pattern=r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    Shape(kind="npm", marks=("npm_",), pattern=r"npm_[A-Za-z0-9]{30,}"),
    Shape(kind="pypi", marks=("pypi-",), pattern=r"pypi-[A-Za-z0-9_-]{40,}"),
    Shape(kind="huggingface", marks=("hf_",), pattern=_START + r"hf_[A-Za-z0-9]{20,}"),
    Shape(
        kind="jwt",
        marks=("eyj",),
        pattern=_START + r"eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}",
    ),
    Shape(
        kind="authorization",
        marks=("authorization",),
        pattern=r"(?P<keep>authorization\\{0,8}[\"']?\s{0,4}[:=,]\s{0,4}\\{0,8}[\"']?)"
        r"(?!\[redacted:)(?:[a-z-]{1,20}[ \t]+)?[^\s\"'\\]+",
        before=r"\g<keep>",
        flags=re.ASCII | re.IGNORECASE,
    ),
    Shape(
        kind="authorization",
        marks=("bearer",),
        pattern=rf"(?P<keep>bearer\s{{1,4}}){_BASE64}{{6,}}",
        before=r"\g<keep>",
        flags=re.ASCII | re.IGNORECASE,
    ),
    Shape(
        kind="authorization",
        marks=("basic",),
        # A word after "basic" is mostly prose; base64 of user:password has a digit, an = or mixed case.
        pattern=rf"(?P<keep>(?i:basic)\s{{1,4}})(?={_BASE64}{{0,400}}?(?:[0-9=]|[a-z][A-Z])){_BASE64}{{8,}}",
        before=r"\g<keep>",
    ),
    Shape(
        kind="url",
        marks=("://",),
        also="@",
        pattern=r"(?P<keep>://[^\s/?#\"'@:]{0,256}:)[^\s/?#\"']{1,1024}@",
        before=r"\g<keep>",
        after="@",
    ),
    Shape(kind="url", marks=("://",), also="@", pattern=r"(?<=://)[A-Za-z0-9_.~%+-]{16,512}@", after="@"),
    Shape(
        kind="secret",
        marks=_ANNOUNCING,
        pattern=rf"(?P<keep>{_NAMES}[A-Za-z0-9_.-]{{0,40}}\\{{0,8}}[\"']?\]?\s{{0,4}}(?:=>|:=|[=:])\s{{0,4}}){_ASSIGNED}",
        before=r"\g<keep>",
        flags=re.ASCII | re.IGNORECASE | re.DOTALL,
    ),
    Shape(
        kind="secret",
        # What a person types before a command, or after export.
        marks=("_key=", "pass="),
        pattern=rf"(?P<keep>(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]{{0,60}}(?:_KEY|PASS)=){_ASSIGNED}",
        before=r"\g<keep>",
        flags=re.ASCII | re.DOTALL,
    ),
    Shape(
        kind="secret",
        marks=("--pass", "--token", "--secret", "--api", "--auth", "--access", "--private", "--client", "--pwd"),
        pattern=rf"(?P<keep>--[a-z-]{{0,24}}{_NAMES}[a-z-]{{0,16}}\s{{1,4}}){_ASSIGNED}",
        before=r"\g<keep>",
        flags=re.ASCII | re.IGNORECASE | re.DOTALL,
    ),
)

SECRET_KEYS = (*_PLAIN_NAMES, *_KEY_NAMES, "authorization", "cookie")
SECRET_WORDS = frozenset({"pwd", "pass", "auth"})


#: Every mark once, and those of the keys of objects: a JSON text with none of them holds nothing we would hide.
_MARKS: tuple[str, ...] = tuple(
    dict.fromkeys(
        (
            *(mark for shape in SHAPES if not shape.also for mark in shape.marks),
            "cookie",
            '"pass"',
            '"auth"',
            "-pass",
            "-auth",
        )
    )
)
MARK_PAIRS: tuple[tuple[str, str], ...] = tuple(
    dict.fromkeys((shape.marks[0], shape.also) for shape in SHAPES if shape.also)
)

#: Testing for what several marks have in common avoids a test for each; a mark that contains another needs none.
#: Searching for a single letter costs a tenth, and short texts lack the rare ones.
MARK_ROOTS = ("key", "pass", "auth", "--", "gh", "k_", "x", "y", "z", "b")
_NEEDED = tuple(mark for mark in _MARKS if not any(other in mark for other in _MARKS if other != mark))
_FIRST = {mark: next((root for root in MARK_ROOTS if root in mark), "") for mark in _NEEDED}
LONE_MARKS = tuple(mark for mark, root in _FIRST.items() if not root)
MARKS_BY_ROOT = MappingProxyType({root: tuple(mark for mark in _NEEDED if _FIRST[mark] == root) for root in MARK_ROOTS})


VARIABLE_PARTS = (
    "KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH", "PRIVATE", "COOKIE", "DSN",
)  # fmt: skip
HARMLESS_PARTS = ("AUTHOR", "KEYBOARD", "KEYMAP", "KEYRING", "TOKENIZ")
HARMLESS_ENDS = ("_SOCK", "_SOCKET", "_PATH", "_FILE", "_DIR", "_HOME")
