"""Data on its way through a command: what is fetched and then run, what is secret and then sent.

Programs are visited in the order in which bash would start them. A file remembers what was written to it; a word and a
pipe know the programs that they come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Final

from hookline.guard.call import ProgramCall, Scene
from hookline.guard.effects import Effect, Harm
from hookline.guard.paths import Place, absolute
from hookline.guard.pattern import LazyPattern, words
from hookline.guard.programs.files import sources_and_target
from hookline.guard.programs.interpreters import CodeSource, code_source
from hookline.guard.programs.network import Traffic, is_network, traffic
from hookline.guard.reading import Invocation, Word
from hookline.guard.sensitive import SECRET_NAME, SECRET_VARIABLE, holds_secrets, secret_harm

#: What data may be: from another machine, decoded from an unreadable form, a secret, the environment, a secret by guess.
_Labels = frozenset[str]
_NOTHING: Final[_Labels] = frozenset()
_NETWORK, _HIDDEN, _SECRET, _ENVIRONMENT, _SYSTEM = (
    frozenset({name}) for name in ("network", "hidden", "secret", "environment", "system")
)
#: Programs that say something about their input, but do not pass it on.
_DIGEST: Final = words(
    "wc md5sum sha1sum sha256sum sha512sum shasum cksum ls stat file test [ true false sleep wait read mkdir rm touch chmod chown kill du df diff cmp"
)
#: Programs that print nothing: beside others in a group, what those print goes on.
_SILENT: Final = words("true false : sleep wait test [ mkdir rm touch chmod chown kill cd")
#: Programs that name files without reading them.
_NO_READERS: Final = words(
    "ls stat rm rmdir unlink chmod chown chgrp touch echo printf mkdir test [ [[ cd pushd popd export unset set alias type which command hash basename dirname realpath readlink find fd mv ln git tee kill source_ : true false ssh ssh-add ssh-keygen ssh-copy-id docker podman docker-compose kubectl helm terraform du df file mkfifo mktemp install_ truncate shred local declare typeset readonly return exit shift trap umask ulimit wait xattr getfacl setfacl lsattr chattr rename for case if while until sftp age-keygen rsync_ scp_ npm yarn pnpm pip cargo make gh gcloud aws az vault heroku flyctl fly gsutil"
)
_READ_OPTIONS: Final = LazyPattern(
    r"^(-i|--env-file|--identity|--key|--cert|--cacert|--netrc-file|--kubeconfig|-E|--private-key)(=|$)"
)
_DECODERS: Final = (
    ("base64 gbase64 base32 basenc", LazyPattern(r"-\w*[dD]\w*$|--decode$|--d\w*$")), ("xxd", LazyPattern(r"-\w*r\w*$|-revert$")), ("openssl", LazyPattern(r"-d$|-A$")),
    ("uudecode gunzip zcat bzcat xzcat unxz bunzip2 zstdcat gpg qprint", None), ("gzip xz bzip2 zstd", LazyPattern(r"-\w*d\w*$|--decompress$|--uncompress$")), ("rev tac", None),
)  # fmt: skip


def flow_effects(invocations: Sequence[Invocation], scene: Scene) -> Iterator[Effect]:
    yield from _Flow(scene).visit(invocations)


class _Flow:
    """The labels of files, as the programs of one command change them."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._files: dict[str, _Labels] = {}
        self._outputs: dict[int, _Labels] = {}
        #: Directories whose content came from the network in this very command, and how bad it is to run it.
        self._folders: dict[str, Harm] = {}
        self._pipes: set[str] = set()
        #: Programs whose output another one takes.
        self._taken: set[int] = set()

    def visit(self, invocations: Sequence[Invocation]) -> Iterator[Effect]:
        for one in invocations:
            self._taken.update(id(each) for each in one.upstream)
            self._taken.update(id(each) for word in one.argv for each in word.sources)
        for one in invocations:
            call = ProgramCall(invocation=one, scene=self._scene)
            incoming = self._input(call)
            sent = traffic(call)
            yield from self._run(call, incoming)
            yield from self._send(call, sent, incoming)
            yield from self._read(call)
            outgoing = self._output(call, sent, incoming)
            self._keep(call, sent, incoming, outgoing)
            self._outputs[id(one)] = outgoing

    # ── labels ──

    def _path(self, call: ProgramCall, word: Word) -> str:
        path = absolute(word.text.removeprefix("file://"), self._scene.places, call.directory or "/")
        return self._scene.places.resolve(path)

    def _file(self, call: ProgramCall, word: Word) -> _Labels:
        """What is in a file: what this command put there, or what its name tells."""
        if word.prefix.startswith(("/dev/tcp/", "/dev/udp/")):
            return _NETWORK
        labels = self._word(word)
        path = self._path(call, word)
        labels |= self._files.get(path, _NOTHING)
        inside = path.rstrip("/") + "/"
        for other, known in self._files.items():
            if other.startswith(inside):
                labels |= known
        return labels | (_SECRET if secret_harm(path) or secret_harm(word.text) else _NOTHING)

    def _sent_file(self, call: ProgramCall, word: Word) -> _Labels:
        """As ``_file``; a directory that by its name holds keys counts, because all of it goes."""
        folder = holds_secrets(self._path(call, word)) or holds_secrets(word.text)
        system = self._path(call, word).startswith(("/etc/", "/proc/", "/var/log/", "/root/"))
        return self._file(call, word) | (_SECRET if folder else _SYSTEM if system else _NOTHING)

    def _word(self, word: Word) -> _Labels:
        return _NOTHING.union(*(self._of(source) for source in word.sources))

    def _of(self, one: Invocation) -> _Labels:
        known = self._outputs.get(id(one))
        if known is None:
            call = ProgramCall(invocation=one, scene=self._scene)
            self._outputs[id(one)] = _NOTHING  # a loop of sources ends here
            incoming = self._input(call)
            known = self._outputs[id(one)] = self._output(call, traffic(call), incoming)
        return known

    def _input(self, call: ProgramCall) -> _Labels:
        one = call.invocation
        labels = _NOTHING
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

    def _redirects(self, call: ProgramCall) -> _Labels:
        labels = _NOTHING
        for redirect in call.invocation.redirects:
            if redirect.operator in {"<", "<>"}:
                labels |= self._file(call, redirect.target)
        return labels

    def _output(self, call: ProgramCall, sent: Traffic, incoming: _Labels) -> _Labels:
        if sent.prints:
            return _NETWORK
        name, texts = call.name, call.texts
        if name == "history":
            return _ENVIRONMENT
        if name in {"env", "printenv", "set", "export", "declare"}:
            plain = not [text for text in texts if not text.startswith("-")] and not {
                "-i",
                "-",
                "--ignore-environment",
            } & set(texts)
            return _ENVIRONMENT if plain else _NOTHING
        labels = _NOTHING if name in _DIGEST else incoming
        if _decodes(name, texts) and call.invocation.stdin is None:
            labels |= _HIDDEN
        for word in call.words:
            labels |= self._word(word)
            if name in {"echo", "printf", "printenv"} and SECRET_VARIABLE.search(word.source):
                labels |= _ENVIRONMENT
            if name not in _NO_READERS | _DIGEST and not word.prefix.startswith("-"):
                labels |= self._sent_file(call, word) if name in _PACKERS | {"cat"} else self._file(call, word)
        if name in _PACKERS and any(text.startswith(("--files-from", "-T")) for text in texts):
            labels |= _SECRET
        return labels

    # ── effects ──

    def _run(self, call: ProgramCall, incoming: _Labels) -> Iterator[Effect]:
        source = code_source(call.invocation)
        labels = (
            self._files.get(self._path(call, call.invocation.argv[0]), _NOTHING)
            if call.invocation.argv and "/" in call.invocation.argv[0].text
            else _NOTHING
        )
        yield from self._unpacked_code(call, source)
        if source is not None:
            labels |= self._code(call, source, incoming)
            yield from self._reverse(call)
        if source is not None and source.stdin and not labels and self._unreadable(call):
            yield call.effect(
                "unknown",
                "medium",
                call.invocation.upstream[-1].source,
                why=f"{call.name} runs what another program prints",
            )
        if labels & (_NETWORK | _HIDDEN):
            why = (
                "code from the network is run unread" if labels & _NETWORK else "hidden code is decoded and run unread"
            )
            yield call.effect(
                "remote-code",
                "critical",
                " ".join((call.name, *call.texts[:2])),
                where="network",
                why=why,
                safer="save it to a file, read it, then run it",
            )

    def _reverse(self, call: ProgramCall) -> Iterator[Effect]:
        """A shell that listens to, or speaks to, another machine."""
        for redirect in call.invocation.redirects:
            if redirect.operator != "<" and redirect.target.prefix.startswith(("/dev/tcp/", "/dev/udp/")):
                yield call.effect(
                    "remote-code",
                    "critical",
                    redirect.target.text,
                    where="network",
                    why="another machine gets a shell here",
                )

    def _unpacked_code(self, call: ProgramCall, source: CodeSource | None) -> Iterator[Effect]:
        """A script out of an archive or a repository that this very command fetched."""
        program = call.invocation.argv[0] if call.invocation.argv else Word(())
        script = source.script if source is not None else program if "/" in program.text else None
        if script is None or not self._folders:
            return
        path = self._path(call, script)
        for folder, harm in self._folders.items():
            if path.startswith(folder.rstrip("/") + "/"):
                safer = "look at it first, then run it"
                yield call.effect(
                    "remote-code", harm, script.text, why="it was just fetched, and runs unread", safer=safer
                )
                return

    def _served(self, call: ProgramCall) -> Iterator[Effect]:
        """A shell in front of a program that talks to another machine: what it is told comes from there."""
        for before in call.invocation.upstream:
            source = code_source(before)
            if source is None or not source.stdin or before.stdin is not None:
                continue
            inner = ProgramCall(invocation=before, scene=self._scene)
            fed = [word for each in before.upstream for word in each.argv[1:]]
            fed += [redirect.target for redirect in before.redirects if redirect.operator == "<"]
            if "-i" in inner.texts or any(self._path(call, word) in self._pipes for word in fed):
                yield call.effect("remote-code", "critical", before.source, why="another machine gets a shell here")

    def _unreadable(self, call: ProgramCall) -> bool:
        """Another program prints the code, and it is none whose output is a local file, an encoding or its own version."""
        one = call.invocation
        return (
            bool(one.upstream)
            and one.stdin is None
            and one.upstream[-1].name not in _PLAIN
            and not is_network(one.upstream[-1].name)
        )

    def _code(self, call: ProgramCall, source: CodeSource, incoming: _Labels) -> _Labels:
        labels = incoming if source.stdin else _NOTHING
        for word in source.code:
            labels |= self._word(word)
        if {"xargs", "parallel"} & set(call.invocation.wrappers) and not source.code:
            labels |= incoming
        if source.script is not None:
            labels |= self._file(call, source.script) - _SECRET
            labels |= _NETWORK if source.script.prefix.startswith(("http://", "https://")) else _NOTHING
        return labels

    def _send(self, call: ProgramCall, sent: Traffic, incoming: _Labels) -> Iterator[Effect]:
        labels = incoming if sent.stdin else _NOTHING
        for word in sent.files:
            labels |= self._sent_file(call, word)
        for word in sent.words:
            labels |= self._word(word)
        targets = [
            redirect.target for redirect in call.invocation.redirects if redirect.operator.startswith((">", "&>", "<>"))
        ]
        network = [word for word in (*targets, *call.words) if word.prefix.startswith(("/dev/tcp/", "/dev/udp/"))]
        if sent.address or network:
            yield from self._served(call)
        yield from self._credentials(call, sent)
        if network:
            labels |= self._output(call, sent, incoming)
        address = sent.address or " ".join(word.text for word in network)
        if labels & _SECRET:
            yield call.effect("send", "critical", address, where="network", why="a secret leaves the machine")
        elif labels & _ENVIRONMENT:
            yield call.effect(
                "send",
                "low" if call.name.startswith("mail") else "high",
                address,
                where="network",
                why="the environment, which may hold secrets, leaves the machine",
            )
        elif any(_all_of_home(call.place(word)) for word in sent.files):
            yield call.effect(
                "send", "high", address, where="network", why="a whole directory of yours leaves the machine"
            )
        elif labels & _SYSTEM and call.name in _RAW:
            yield call.effect("send", "medium", address, where="network", why="a file of the system leaves the machine")
        elif call.name in _RAW and sent.stdin and self._packs_all(call):
            yield call.effect("send", "medium", address, where="network", why="an archive leaves the machine")
        elif any(not word.known for word in sent.files):
            yield call.effect(
                "send",
                "high" if call.name in {"curl", "wget"} else "medium",
                address,
                where="network",
                why="which file leaves the machine is not known",
            )
        elif sent.files or (sent.stdin and call.invocation.upstream):
            yield call.effect("send", "low", address, where="network")

    def _packs_all(self, call: ProgramCall) -> bool:
        """The project, or something outside it, is packed and sent."""
        packed = [word for one in call.invocation.upstream if one.name in _PACKERS for word in one.argv[1:]]
        places = [call.place(word) for word in packed if not word.prefix.startswith("-")]
        return any(place.whole or (place.outside and place.name != "temp") for place in places)

    def _credentials(self, call: ProgramCall, sent: Traffic) -> Iterator[Effect]:
        """``curl -d "$TOKEN"``: in a header it is meant for the other side, elsewhere hardly."""
        for word in sent.body:
            if SECRET_VARIABLE.search(word.source):
                whole = re.fullmatch(r"[\"']?\$\{?\w+\}?[\"']?", word.source) is not None
                why = "a variable that by its name is a secret leaves the machine"
                yield call.effect("send", "high" if whole else "medium", sent.address, where="network", why=why)

    def _shown(self, call: ProgramCall) -> Iterator[Effect]:
        """A secret of the environment, printed for everybody to see."""
        one, name = call.invocation, call.name
        if id(one) in self._taken or any(redirect.operator.startswith(">") for redirect in one.redirects):
            return
        named = name in {"echo", "printf"} and any(SECRET_VARIABLE.search(word.source) for word in call.words)
        named = named or (name == "printenv" and any(map(SECRET_NAME.search, call.texts)))
        listed = (
            name.endswith("grep") and one.upstream and one.upstream[-1].name in {"env", "printenv", "set", "export"}
        )
        if named or (listed and any(map(SECRET_NAME.search, call.texts))):
            yield call.effect("secret", "medium", " ".join(call.texts), why="it prints a credential of the environment")

    def _read(self, call: ProgramCall) -> Iterator[Effect]:
        """Secrets that a program reads; where a file only moved, by its new name."""
        yield from self._shown(call)
        if call.name in _NO_READERS or not call.name:
            yield from self._redirected(call)
            return
        words = list(call.words)
        if call.name in {"cp", "install", "rsync", "scp"}:
            words = list(sources_and_target(call.options("t:,target-directory: i: F: o: P: e:"))[0])
        before = ""
        for word in dict.fromkeys(words):
            if not _READ_OPTIONS.match(before) and not _READ_OPTIONS.match(word.text):
                yield from self._secret(call, _value(word))
            before = word.text
        yield from self._redirected(call)

    def _redirected(self, call: ProgramCall) -> Iterator[Effect]:
        for redirect in call.invocation.redirects:
            if redirect.operator in {"<", "<>"}:
                yield from self._secret(call, redirect.target)

    def _secret(self, call: ProgramCall, word: Word) -> Iterator[Effect]:
        found = list(call.read(word))
        yield from found
        if not found and word.known and self._files.get(self._path(call, word), _NOTHING) & _SECRET:
            yield call.effect("secret", "high", word.text, why="it holds credentials that were put there before")

    # ── what is kept for later programs ──

    def _keep(self, call: ProgramCall, sent: Traffic, incoming: _Labels, outgoing: _Labels) -> None:
        for redirect in call.invocation.redirects:
            if redirect.operator.startswith((">", "&>")):
                secret = secret_harm(self._path(call, redirect.target))
                self._mark(call, redirect.target, outgoing | (_SECRET if secret else _NOTHING))
        for word in sent.saves:
            self._mark(call, word, _NETWORK)
        name = call.name
        self._fetched_folder(call, incoming)
        if name == "mkfifo":
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

    def _fetched_folder(self, call: ProgramCall, incoming: _Labels) -> None:
        """Where an archive from the network is unpacked, or a repository is cloned to."""
        texts, words = call.texts, call.words
        if call.name == "git" and "clone" in texts:
            named = [word for word in words[texts.index("clone") + 1 :] if not word.prefix.startswith("-")]
            address = next((word.text for word in named if ":" in word.text), "")
            folder = named[-1].text if named and named[-1].text != address else _repository(address)
            if address:
                self._folders[self._path(call, Word((folder,), folder))] = "medium"
        elif call.name in _UNPACKERS:
            fetched = incoming | _NOTHING.union(*(self._file(call, word) for word in words))
            options = call.options("C:,directory: d: f: O: x v z j J o q")
            target = options.last("directory", "d") or Word((".",), ".")
            if fetched & _NETWORK:
                self._folders[self._path(call, target)] = "high"

    def _mark(self, call: ProgramCall, word: Word, labels: _Labels) -> None:
        if labels and word.known and not word.prefix.startswith("/dev/null"):
            path = self._path(call, word)
            self._files[path] = self._files.get(path, _NOTHING) | labels

    def _copied(self, call: ProgramCall) -> None:
        options = call.options("t:,target-directory: S: m: o: g: e: i: P:")
        sources, target = sources_and_target(options)
        if target is None:
            return
        labels = _NOTHING.union(*(self._file(call, word) for word in sources), _NOTHING)
        self._mark(call, target, labels)
        for word in sources:
            self._mark(
                call, Word((f"{target.text.rstrip('/')}/{word.text.rpartition('/')[2]}",), ""), self._file(call, word)
            )
            if call.name == "mv":
                self._files.pop(self._path(call, word), None)

    def _written(self, call: ProgramCall, outgoing: _Labels) -> None:
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
        if call.name in {"gzip", "xz", "bzip2", "zstd", "gpg", "age", "lz4"}:
            suffix = next((texts[index + 1] for index, text in enumerate(texts[:-1]) if text == "-S"), None)
            ending = suffix or _ENDINGS.get(call.name, f".{call.name}")
            for word in call.words:
                self._mark(
                    call,
                    Word((word.text + ending,), ""),
                    self._file(call, word) if not word.prefix.startswith("-") else _NOTHING,
                )

    def _input_file(self, call: ProgramCall) -> _Labels:
        return _NOTHING.union(
            *(self._file(call, Word((text[3:],), text)) for text in call.texts if text.startswith("if=")), _NOTHING
        )


#: What packing a file adds to its name, where it is not the packer's name.
_ENDINGS: Final = MappingProxyType({"gzip": ".gz", "bzip2": ".bz2", "zstd": ".zst"})
_PLAIN: Final = words(
    "cat head tail base64 base32 xxd od hexdump gzip grep sort uniq nl tac rev printf echo yes true find ls"
)
_UNPACKERS: Final = words("tar gtar bsdtar unzip 7z 7za cpio ar unrar")
#: Programs that send to whoever listens: no account of one's own is at the other end.
_RAW: Final = words("nc ncat netcat nc.traditional nc.openbsd socat telnet curl wget openssl")
_PACKERS: Final = words("tar gtar bsdtar zip 7z 7za rar cpio rsync scp find")


def _value(word: Word) -> Word:
    """The path in ``--file=path``, ``@path`` and ``if=path``."""
    text = word.text
    if not word.known:
        return word
    if text.startswith("-") and "=" in text:
        text = text.partition("=")[2]
    return Word((text.removeprefix("@").removeprefix("if="),), word.source)


def _all_of_home(place: Place) -> bool:
    return place.whole and place.name in {"home", "root", "system"}


def _repository(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")


def _decodes(name: str, texts: tuple[str, ...]) -> bool:
    for names, pattern in _DECODERS:
        if name in names.split():
            return pattern is None or any(pattern.match(text) for text in texts)
    return False
