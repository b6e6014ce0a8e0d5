"""What data may be on its way through a command: fetched, hidden, secret. Files, pipes and words remember it."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from hookline.guard.call import ProgramCall, Scene
from hookline.guard.output import foresee_output
from hookline.guard.paths import absolute
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.programs.files import sources_and_target
from hookline.guard.programs.network import Traffic, traffic
from hookline.guard.programs.rows import prints_secret
from hookline.guard.reading import Invocation, Word
from hookline.guard.sensitive import SECRET_NAME, SECRET_VARIABLE, holds_secrets, secret_harm

#: What data may be: from another machine, decoded from an unreadable form, a secret, the environment, a secret by guess.
Labels = frozenset[str]
NOTHING: Final[Labels] = frozenset()
NETWORK, HIDDEN, SECRET, ENVIRONMENT, SYSTEM, TOKEN = (
    frozenset({name}) for name in ("network", "hidden", "secret", "environment", "system", "token")
)
#: Programs that say something about their input, but do not pass it on.
_DIGEST: Final = words(
    "wc md5sum sha1sum sha256sum sha512sum shasum cksum ls stat file test [ true false sleep wait read mkdir rm touch chmod chown kill du df diff cmp"
)
#: Programs that print nothing: beside others in a group, what those print goes on.
_SILENT: Final = words("true false : sleep wait test [ mkdir rm touch chmod chown kill cd")
#: Programs that name files without reading them.
NO_READERS: Final = words(
    "ls stat rm rmdir unlink chmod chown chgrp touch echo printf mkdir test [ [[ cd pushd popd export unset set alias type which command hash basename dirname realpath readlink find fd mv ln git tee kill source_ : true false ssh ssh-add ssh-keygen ssh-copy-id docker podman docker-compose kubectl helm terraform du df file mkfifo mktemp install_ truncate shred local declare typeset readonly return exit shift trap umask ulimit wait xattr getfacl setfacl lsattr chattr rename for case if while until sftp age-keygen rsync_ scp_ npm yarn pnpm pip cargo make gh gcloud aws az vault heroku flyctl fly gsutil"
)
_DECODERS: Final = (
    ("base64 gbase64 base32 basenc", lazy_pattern(r"-\w*[dD]\w*$|--decode$|--d\w*$")), ("xxd", lazy_pattern(r"-\w*r\w*$|-revert$")), ("openssl", lazy_pattern(r"-d$|-A$")),
    ("uudecode gunzip zcat bzcat xzcat unxz bunzip2 zstdcat gpg qprint", None), ("gzip xz bzip2 zstd", lazy_pattern(r"-\w*d\w*$|--decompress$|--uncompress$")), ("rev tac", None),
    ("awk gawk mawk nawk", lazy_pattern(r"(?s).*(%c|\\[x0-7])")),
    ("python python3 perl ruby node php", lazy_pattern(r"(?s).*(pack\W|fromhex|b64decode|base64|unhexlify|\bchr\W|atob|Buffer\.from|fromCharCode)")),
)  # fmt: skip
_LANGUAGES: Final = words("python python3 node perl ruby php")
_STRINGS: Final = lazy_pattern(r"[\"']([^\"'\n]{1,200})[\"']")
#: What packing a file adds to its name, where it is not the packer's name.
_ENDINGS: Final = MappingProxyType({"gzip": ".gz", "bzip2": ".bz2", "zstd": ".zst"})
_UNPACKERS: Final = words("tar gtar bsdtar unzip 7z 7za cpio ar unrar")
PACKERS: Final = words("tar gtar bsdtar zip 7z 7za rar cpio rsync scp find")


class DataLabels:
    """The labels of files, as the programs of one command change them."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._files: dict[str, Labels] = {}
        self._outputs: dict[int, Labels] = {}
        #: Directories whose content came from the network in this very command.
        self._folders: set[str] = set()
        self._pipes: set[str] = set()
        #: Programs whose output another one takes.
        self._taken: set[int] = set()

    def _path(self, call: ProgramCall, word: Word) -> str:
        path = absolute(word.text.removeprefix("file://"), self._scene.places, call.directory or "/")
        return self._scene.places.resolve(path)

    def _file(self, call: ProgramCall, word: Word) -> Labels:
        """What is in a file: what this command put there, or what its name tells."""
        if word.prefix.startswith(("/dev/tcp/", "/dev/udp/")):
            return NETWORK
        labels = self._word(word)
        path = self._path(call, word)
        labels |= self._files.get(path, NOTHING)
        inside = path.rstrip("/") + "/"
        for other, known in self._files.items():
            if other.startswith(inside):
                labels |= known
        return labels | (SECRET if secret_harm(path) or secret_harm(word.text) else NOTHING)

    def _sent_file(self, call: ProgramCall, word: Word) -> Labels:
        """As ``_file``; a directory that by its name holds keys counts, because all of it goes."""
        folder = holds_secrets(self._path(call, word)) or holds_secrets(word.text)
        system = self._path(call, word).startswith(("/etc/", "/proc/", "/var/log/", "/root/"))
        return self._file(call, word) | (SECRET if folder else SYSTEM if system else NOTHING)

    def _word(self, word: Word) -> Labels:
        return NOTHING.union(*(self._of(source) for source in word.sources))

    def _of(self, one: Invocation) -> Labels:
        known = self._outputs.get(id(one))
        if known is None:
            call = ProgramCall(invocation=one, scene=self._scene)
            self._outputs[id(one)] = NOTHING  # a loop of sources ends here
            incoming = self._input(call)
            known = self._outputs[id(one)] = self._output(call, traffic(call), incoming)
        return known

    def _input(self, call: ProgramCall) -> Labels:
        one = call.invocation
        labels = NOTHING
        for before in one.upstream:
            if before.name in _SILENT:
                continue
            inner = ProgramCall(invocation=before, scene=self._scene)
            labels = self._output(
                inner,
                traffic(inner),
                labels | self._word(before.stdin) if before.stdin else labels | self._redirects(inner),
            )
        if one.stdin is not None:
            labels |= self._word(one.stdin)
        return labels | self._redirects(call)

    def _redirects(self, call: ProgramCall) -> Labels:
        labels = NOTHING
        for redirect in call.invocation.redirects:
            if redirect.operator in {"<", "<>"}:
                labels |= self._sent_file(call, redirect.target)
        return labels

    def _output(self, call: ProgramCall, sent: Traffic, incoming: Labels) -> Labels:
        if sent.prints:
            return NETWORK
        name, texts = call.name, call.texts
        if name == "history":
            return ENVIRONMENT
        if name in {"env", "printenv", "set", "export", "declare"}:
            names = [text for text in texts if not text.startswith("-")]
            shows = any(map(SECRET_NAME.search, names)) if name == "printenv" else False
            empty = {"-i", "-", "--ignore-environment"} & set(texts)
            return ENVIRONMENT if shows or not (names or empty) else NOTHING
        labels = NOTHING if name in _DIGEST else incoming
        if prints_secret(call):
            labels |= TOKEN
        if name in _LANGUAGES and any(secret_harm(one[1]) for text in texts for one in _STRINGS.finditer(text)):
            labels |= SECRET
        if name == "git" and any(secret_harm(text.partition(":")[2]) for text in texts if ":" in text):
            labels |= SECRET
        if _decodes(name, texts) and not _foreseen(call):
            labels |= HIDDEN
        for word in call.words:
            labels |= self._word(word)
            if name in {"echo", "printf", "printenv"} and SECRET_VARIABLE.search(word.source):
                labels |= ENVIRONMENT
            if name not in NO_READERS | _DIGEST and not word.prefix.startswith("-"):
                labels |= self._sent_file(call, word) if name in PACKERS | {"cat", "curl"} else self._file(call, word)
        if name in PACKERS and any(text.startswith(("--files-from", "-T")) for text in texts):
            labels |= SECRET
        return labels

    def _keep(self, call: ProgramCall, sent: Traffic, incoming: Labels, outgoing: Labels) -> None:
        for redirect in call.invocation.redirects:
            if redirect.operator.startswith((">", "&>")):
                secret = secret_harm(self._path(call, redirect.target))
                self._mark(call, redirect.target, outgoing | (SECRET if secret else NOTHING))
        for word in sent.saves:
            self._mark(call, word, NETWORK)
        name = call.name
        self._fetched_folder(call, incoming)
        if name == "mkfifo" or (name == "mknod" and "p" in call.texts):
            self._pipes.update(self._path(call, word) for word in call.words)
        if name == "tee":
            for word in call.options("a i p").operands:
                self._mark(call, word, incoming)
        elif name in {"cp", "mv", "ln", "install", "rsync", "scp"}:
            self._copied(call)
        elif name in {"rm", "unlink", "shred"}:
            for word in call.words:
                self._files.pop(self._path(call, word), None)
        else:
            self._written(call, outgoing)

    def _fetched_folder(self, call: ProgramCall, incoming: Labels) -> None:
        """Where an archive from the network is unpacked, or a repository is cloned to."""
        texts, words = call.texts, call.words
        if call.name == "git" and "clone" in texts:
            named = [word for word in words[texts.index("clone") + 1 :] if not word.prefix.startswith("-")]
            address = next((word.text for word in named if ":" in word.text), "")
            folder = named[-1].text if named and named[-1].text != address else _repository(address)
            if address:
                self._folders.add(self._path(call, Word((folder,), folder)))
        elif call.name in _UNPACKERS:
            fetched = incoming | NOTHING.union(*(self._file(call, word) for word in words))
            options = call.options("C:,directory: d: f: O: x v z j J o q")
            target = options.last("directory", "d") or Word((".",), ".")
            if fetched & NETWORK:
                self._folders.add(self._path(call, target))

    def _mark(self, call: ProgramCall, word: Word, labels: Labels) -> None:
        if labels and word.known and not word.prefix.startswith("/dev/null"):
            path = self._path(call, word)
            self._files[path] = self._files.get(path, NOTHING) | labels

    def _copied(self, call: ProgramCall) -> None:
        options = call.options("t:,target-directory: S: m: o: g: e: i: P:")
        sources, target = sources_and_target(options)
        if target is None:
            return
        labels = NOTHING.union(*(self._file(call, word) for word in sources), NOTHING)
        self._mark(call, target, labels)
        for word in sources:
            self._mark(
                call, Word((f"{target.text.rstrip('/')}/{word.text.rpartition('/')[2]}",), ""), self._file(call, word)
            )
            if call.name == "mv":
                self._files.pop(self._path(call, word), None)

    def _written(self, call: ProgramCall, outgoing: Labels) -> None:
        """Files that a program writes beside its standard output: archives, ``-o``, ``of=``, packed copies."""
        texts = call.texts
        for index, word in enumerate(call.words):
            text = word.text
            if text.startswith("of="):
                self._mark(call, Word((text[3:],), text), self._input_file(call) | outgoing)
            elif re.fullmatch(r"-o|-out|--output|-\w*f|--file", text) and index + 1 < len(texts):
                self._mark(call, call.words[index + 1], outgoing)
            elif text.startswith(("--output=", "--file=")):
                self._mark(call, Word((text.partition("=")[2],), text), outgoing)
        if call.name in {"zip", "7z", "7za", "rar", "tar", "gtar"} and texts:
            archive = next(
                (
                    word
                    for word in call.words
                    if not word.prefix.startswith("-") and not re.fullmatch(r"[acxuvzjJf]{1,5}", word.text)
                ),
                None,
            )
            if archive is not None:
                self._mark(call, archive, outgoing)
        for word in call.words if call.name in {"gunzip", "unxz", "bunzip2", "unzstd"} else ():
            self._mark(call, Word((word.text.rpartition(".")[0],), ""), self._file(call, word))
        if call.name in {"gzip", "xz", "bzip2", "zstd", "gpg", "age", "lz4"}:
            suffix = next((texts[index + 1] for index, text in enumerate(texts[:-1]) if text == "-S"), None)
            ending = suffix or _ENDINGS.get(call.name, f".{call.name}")
            for word in call.words:
                self._mark(
                    call,
                    Word((word.text + ending,), ""),
                    self._file(call, word) if not word.prefix.startswith("-") else NOTHING,
                )

    def _input_file(self, call: ProgramCall) -> Labels:
        return NOTHING.union(
            *(self._file(call, Word((text[3:],), text)) for text in call.texts if text.startswith("if=")), NOTHING
        )


def _foreseen(call: ProgramCall) -> bool:
    """The reader knows what the decoder prints, and has read it."""
    given = call.invocation.stdin
    return given is not None and given.known and foresee_output(call.name, list(call.texts), given.text) is not None


def _repository(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")


def _decodes(name: str, texts: tuple[str, ...]) -> bool:
    for names, pattern in _DECODERS:
        if name in names.split():
            return pattern is None or any(pattern.match(text) for text in texts)
    return False
