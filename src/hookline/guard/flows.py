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
from hookline.guard.labels import (
    ENVIRONMENT,
    HIDDEN,
    NETWORK,
    NO_READERS,
    NOTHING,
    PACKERS,
    SECRET,
    SYSTEM,
    TOKEN,
    DataLabels,
    Labels,
)
from hookline.guard.paths import JudgedPath
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.programs.files import sources_and_target
from hookline.guard.programs.interpreters import CodeSource, code_source
from hookline.guard.programs.network import Traffic, is_network, traffic
from hookline.guard.reading import Invocation, Word, cut
from hookline.guard.sensitive import CREDENTIAL, SECRET_NAME, SECRET_VARIABLE

_READ_OPTIONS: Final = lazy_pattern(
    r"^(-i|--env-file|--identity|--key|--cert|--cacert|--netrc-file|--kubeconfig|-E|--private-key|-keyout|-out)(=|$)"
)
#: Programs that do what a file of this name says.
_RECIPES: Final = MappingProxyType(
    {"make": "Makefile", "npm": "package.json", "yarn": "package.json", "just": "justfile", "pip": "setup.py"}
)
#: Code that runs a text as code, which may be what it reads.
#: Programs that carry out, or set up, what is in the files that they name.
_CARRIES_OUT: Final = words("make gmake just dpkg rpm apt apt-get dnf yum zypper installer insmod")
_EVALUATES: Final = lazy_pattern(r"(?<![.\w])(eval|exec|instance_eval|loadstring)\b")
_PLAIN: Final = words(
    "cat head tail base64 base32 xxd od hexdump gzip grep sort uniq nl tac rev printf echo yes true find ls"
)
#: Programs that carry out what stands on their input.
_INSTRUCTED: Final = words("psql mysql mariadb sqlite3 mongosh redis-cli kubectl oc")
_STATEMENTS: Final = lazy_pattern(r"-[cfeQq]$|--(command|file|execute|eval|query)\b")
#: Programs that talk to other machines, but mostly print what is neither code nor a page.
_SERVICES: Final = words("aws gsutil gcloud rclone azcopy gh mc s3cmd")
#: Programs that send to whoever listens: no account of one's own is at the other end.
_RAW: Final = words("nc ncat netcat nc.traditional nc.openbsd socat telnet curl wget openssl dig nslookup host")


#: Credentials that belong to one service: the variable's name, and what its machines are called.
_OWNERS: Final = MappingProxyType({
    r"\$\{?AWS_(SECRET|SESSION)": "aws", r"\$\{?OPENAI_API": "openai", r"\$\{?ANTHROPIC_API": "anthropic",
    r"\$\{?(GITHUB|GH)_TOKEN": "git", r"\$\{?NPM_TOKEN": "npm",
})  # fmt: skip
_HOST: Final = lazy_pattern(r"(?:https?://)?(?:[^/@\s]*@)?([A-Za-z0-9.-]+)(?=[:/?#]|$)")
_NEAR: Final = lazy_pattern(
    r"localhost$|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|0\.0\.0\.0|host\.docker|[^.]+$"
)


def flow_effects(invocations: Sequence[Invocation], scene: Scene) -> Iterator[Effect]:
    yield from _Flow(scene).visit(invocations)


class _Flow(DataLabels):
    """One walk over the programs of a command."""

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

    def _run(self, call: ProgramCall, incoming: Labels) -> Iterator[Effect]:
        source = code_source(call.invocation)
        labels = (
            self._files.get(self._path(call, call.invocation.argv[0]), NOTHING)
            if call.invocation.argv and "/" in call.invocation.argv[0].text
            else NOTHING
        )
        if (recipe := _RECIPES.get(call.name)) and self._files:
            labels |= self._files.get(self._path(call, Word((recipe,), recipe)), NOTHING) & NETWORK
        if call.name in _CARRIES_OUT and any(self._file(call, word) & NETWORK for word in call.words):
            why = "what was just fetched is set up or carried out unread"
            yield call.effect("remote-code", "high", " ".join((call.name, *call.texts[:2])), why=why)
        if call.invocation.argv and not call.invocation.argv[0].known:
            labels |= self._word(call.invocation.argv[0]) & NETWORK
        yield from self._unpacked_code(call, source)
        if source is not None:
            labels |= self._code(call, source, incoming)
            yield from self._reverse(call)
        if source is not None and source.stdin and not labels and self._unreadable(call):
            why = f"{call.name} runs what another program prints"
            yield call.effect("unknown", "medium", call.invocation.upstream[-1].source, why=why)
        if incoming & NETWORK and call.name in _INSTRUCTED and ("-" in call.texts or _asks_input(call)):
            yield call.effect("remote-code", "medium", call.name, why="it does unread what another machine says")
        if labels & (NETWORK | HIDDEN):
            why = "code from the network is run unread" if labels & NETWORK else "hidden code is decoded and run unread"
            what = " ".join((call.name, *call.texts[:2]))
            yield call.effect("remote-code", "critical", what, where="network", why=why)

    def _reverse(self, call: ProgramCall) -> Iterator[Effect]:
        """A shell that listens to, or speaks to, another machine."""
        for redirect in call.invocation.redirects:
            if redirect.operator != "<" and redirect.target.prefix.startswith(("/dev/tcp/", "/dev/udp/")):
                why = "another machine gets a shell here"
                yield call.effect("remote-code", "critical", redirect.target.text, where="network", why=why)

    def _unpacked_code(self, call: ProgramCall, source: CodeSource | None) -> Iterator[Effect]:
        """A script out of an archive or a repository that this very command fetched."""
        program = call.invocation.argv[0] if call.invocation.argv else Word(())
        script = source.script if source is not None else program if "/" in program.text else None
        built = call.name in {"make", "gmake", "just"}  # whoever builds what they cloned mostly means it
        if built:
            target = call.options("C:,directory:").last("directory")
            script = Word((f"{target.text if target else '.'}/Makefile",), call.name)
        if script is None or not self._folders:
            return
        path, safer = self._path(call, script), "look at it first, then run it"
        if any(path.startswith(folder.rstrip("/") + "/") for folder in self._folders):
            harm: Harm = "medium" if built else "high"
            yield call.effect("remote-code", harm, script.text, why="it was just fetched, and runs unread", safer=safer)

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
            and (one.upstream[-1].name in _SERVICES or not is_network(one.upstream[-1].name))
        )

    def _code(self, call: ProgramCall, source: CodeSource, incoming: Labels) -> Labels:
        labels = incoming if source.stdin else NOTHING
        for word in source.code:
            labels |= self._word(word)
            if source.language != "sh" and _EVALUATES.search(word.text):
                labels |= incoming
        if {"xargs", "parallel"} & set(call.invocation.wrappers) and not source.code:
            labels |= incoming
        if source.script is not None:
            labels |= self._file(call, source.script) - SECRET
            labels |= NETWORK if source.script.prefix.startswith(("http://", "https://")) else NOTHING
        return labels

    def _send(self, call: ProgramCall, sent: Traffic, incoming: Labels) -> Iterator[Effect]:
        labels = incoming if sent.stdin else NOTHING
        for word in sent.files:
            labels |= self._sent_file(call, word)
        for word in sent.words:  # a token in a header is meant for the other side
            labels |= self._word(word) - (NOTHING if word in sent.body else TOKEN)
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
        for harm, why in self._leaving(call, sent, labels):
            yield call.effect("send", harm, address, where="network", why=why)
            return

    def _leaving(self, call: ProgramCall, sent: Traffic, labels: Labels) -> Iterator[tuple[Harm, str]]:
        """What is sent and how bad that is, the worst first."""
        if labels & SECRET:
            yield "critical", "a secret leaves the machine"
        if labels & TOKEN:
            yield "high", "a credential leaves the machine"
        if labels & ENVIRONMENT:
            harm: Harm = "low" if call.name.startswith("mail") else "high"
            yield harm, "the environment, which may hold secrets, leaves the machine"
        if any(_all_of_home(call.place(word)) for word in sent.files):
            yield "high", "a whole directory of yours leaves the machine"
        if labels & SYSTEM and call.name in _RAW:
            yield "medium", "a file of the system leaves the machine"
        packed = self._packed(call) if sent.stdin else []
        if any(_all_of_home(place) for place in packed):
            yield "high", "a whole directory of yours leaves the machine"
        if call.name in _RAW and any(place.whole or (place.outside and place.name != "temp") for place in packed):
            yield "medium", "an archive leaves the machine"
        if any(not word.known for word in sent.files):
            yield "high" if call.name in {"curl", "wget"} else "medium", "which file leaves the machine is not known"
        if sent.files or (sent.stdin and call.invocation.upstream):
            yield "low", ""

    def _packed(self, call: ProgramCall) -> list[JudgedPath]:
        packed = [word for one in call.invocation.upstream if one.name in PACKERS for word in one.argv[1:]]
        return [call.place(word) for word in packed if not word.prefix.startswith("-")]

    def _credentials(self, call: ProgramCall, sent: Traffic) -> Iterator[Effect]:
        """``curl -d "$TOKEN"``: in a header it is meant for the other side, unless that is somebody else's."""
        found = _HOST.match(sent.address)
        host = found[1] if found else "localhost"
        for owner, names in _OWNERS.items() if not _NEAR.match(host) else ():
            if names not in host and any(re.search(owner, word.source) for word in sent.words):
                why = "a credential goes to a machine that it does not belong to"
                yield call.effect("send", "high", sent.address, where="network", why=why)
        for word in sent.body:
            if CREDENTIAL.search(word.text):
                yield call.effect("send", "high", sent.address, where="network", why="a credential leaves the machine")
            elif SECRET_VARIABLE.search(word.source):
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
        if call.name in NO_READERS or not call.name:
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
        if not found and word.known and self._files.get(self._path(call, word), NOTHING) & SECRET:
            yield call.effect("secret", "high", word.text, why="it holds credentials that were put there before")


def _asks_input(call: ProgramCall) -> bool:
    """A client of a database takes its statements from its input unless it is given others."""
    return call.name not in {"kubectl", "oc"} and not any(map(_STATEMENTS.match, call.texts))


def _all_of_home(place: JudgedPath) -> bool:
    return place.whole and place.name in {"home", "root", "system"}


def _value(word: Word) -> Word:
    """The path in ``--file=path``, ``@path`` and ``if=path``."""
    found = re.match(r"(-[^=]*=)?(@|if=)?", word.prefix)
    return cut(word, found.end() if found else 0)
