"""Disks, processes, services, users, the network's configuration, schedules: the machine itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect, Harm
from hookline.guard.options import parse_options
from hookline.guard.pattern import LazyPattern, words

_HELP = words("-h --help -V --version --longhelp -?")
_NO_VALUE = "n t,test d"

#: program -> (kind, harm, why): dangerous whatever its arguments, if it has any operand.
_ALWAYS: Final[Mapping[str, tuple[str, Harm, str]]] = MappingProxyType({
    **dict.fromkeys(words("mkfs mke2fs mkswap mkntfs mkdosfs mkudffs newfs newfs_apfs newfs_hfs wipefs blkdiscard hdparm nvme badblocks sgdisk parted fdisk cfdisk sfdisk gdisk zpool zfs btrfs mdadm dmsetup pvremove pvcreate vgremove vgreduce lvremove lvreduce lvresize sg_format flashrom fwupdmgr nwipe partx e2fsck tune2fs xfs_repair resize2fs bcache"), ("device", "critical", "data on a disk are destroyed or cannot be reached")),
    **dict.fromkeys(words("shutdown reboot halt poweroff init telinit kexec"), ("process", "high", "the machine stops")),
    **dict.fromkeys(words("insmod rmmod modprobe kmod swapoff sysctl setenforce ufw iptables ip6tables nft firewall-cmd pfctl setcap visudo update-rc.d chkconfig mount umount losetup grub-install grub-mkconfig efibootmgr bootctl bless nvram csrutil spctl systemsetup pwpolicy kextload update-grub"), ("privilege", "medium", "it changes the system itself")),
    **dict.fromkeys(words("useradd adduser userdel deluser usermod groupadd groupdel groupmod gpasswd passwd chpasswd chsh chfn vipw newusers sysadminctl dseditgroup"), ("privilege", "high", "it changes who may use the machine")),
})  # fmt: skip
_READS: Final = LazyPattern(
    r"^(list|show|status|info|get|print|check|-l|-L|--list|-a|--all|--query|--verbose|-v|-n|-S|--list-rules|-p|/proc.*|help|version|scan|--detail|--examine|--scan|smart-log|id-ctrl|iostat|history|subvolume|filesystem|device|-sr|-s)$"
)
_DESTROYS: Final[Mapping[str, LazyPattern]] = MappingProxyType({
    "zfs": LazyPattern(r"destroy|rollback"), "zpool": LazyPattern(r"destroy|labelclear|create|remove"),
    "btrfs": LazyPattern(r"delete|format|del"), "nvme": LazyPattern(r"format|sanitize|write.*|delete-ns|reset"),
    "hdparm": LazyPattern(r"--(security|trim|yes|write|repair|make).*|--user-master"), "parted": LazyPattern(r"mklabel|mkpart|rm|resizepart|mktable"),
    "mdadm": LazyPattern(r"--(zero-superblock|create|stop|fail|remove)|-C|-S|-f|-r"), "dmsetup": LazyPattern(r"remove(_all)?|wipe_table|clear"),
    "badblocks": LazyPattern(r"-\w*w\w*"), "fdisk": LazyPattern(r"(?!-l|--list).*"), "wipefs": LazyPattern(r"-\w*[ao]\w*|--(all|offset).*"),
    "tune2fs": LazyPattern(r"-[^l].*"), "e2fsck": LazyPattern(r"-\w*[yp]\w*"), "sysctl": LazyPattern(r"-w|--write|-p.*|--load.*|-f|\S+=\S*|--system"),
    "iptables": LazyPattern(r"-[FXADIRPNZ]|--(flush|delete|append|insert|policy).*"), "ip6tables": LazyPattern(r"-[FXADIRPNZ]|--(flush|delete|append|insert|policy).*"),
    "ufw": LazyPattern(r"disable|reset|allow|delete|default"), "nft": LazyPattern(r"flush|delete|add|-f|insert"), "mount": LazyPattern(r"/.*|-o.*|--bind"),
    "pfctl": LazyPattern(r"-\w*[dFf]\w*"), "csrutil": LazyPattern(r"disable|clear"), "spctl": LazyPattern(r"--(master-|global-)?disable|--add|--remove"),
    "passwd": LazyPattern(r".*"), "nvram": LazyPattern(r"-[cdf]|\S+=.*"), "umount": LazyPattern(r".*"), "sfdisk": LazyPattern(r"(?!-[ldsV]|--(list|dump|json)).*"),
    "sgdisk": LazyPattern(r"-[ZzodnG].*|--(zap|delete|clear|new).*"), "gdisk": LazyPattern(r"(?!-l).*"), "smartctl": LazyPattern(r"-s.*"),
})  # fmt: skip


def _always(call: ProgramCall) -> Iterator[Effect]:
    name = "mkfs" if call.name.startswith("mkfs.") else call.name
    words = call.words[1:] if name == "lvm" else call.words
    if name == "lvm":
        name = next((text for text in call.texts if text in _ALWAYS), "")
    texts = [word.text for word in words]
    if (
        name not in _ALWAYS
        or set(texts) & (_HELP if name not in {"shutdown", "halt"} else {"--help"})
        or (not texts and name not in {"reboot", "halt", "poweroff", "shutdown", "visudo", "vipw", "chpasswd"})
    ):
        return
    if _dry(name, call.texts) or (name == "shutdown" and "-c" in texts):
        return
    pattern = _DESTROYS.get(name)
    if pattern is not None and not any(pattern.fullmatch(text) for text in texts):
        return
    kind, harm, why = _ALWAYS[name]
    operands = [word for word in words if not word.prefix.startswith("-")]
    if kind == "device" and not any(word.known or word.prefix for word in operands) and pattern is None:
        return
    yield call.effect(kind, harm, " ".join(texts), where="device" if kind == "device" else "", why=why)


def _dry(name: str, texts: tuple[str, ...]) -> bool:
    """LVM's ``--test``, the ``-n`` of mkfs and of partition programs."""
    if name.startswith(("lv", "vg", "pv")):
        return bool({"--test", "-t"} & set(texts))
    return name in {"mkfs", "mke2fs", "e2fsck", "wipefs", "sfdisk"} and bool({"-n", "--no-act"} & set(texts))


def _diskutil(call: ProgramCall) -> Iterator[Effect]:
    verb = call.texts[0].lower() if call.texts else ""
    if re.match(
        r"erase|zero|random|secureerase|partitiondisk|reformat|splitpartition|mergepartitions|resizevolume", verb
    ) or (verb == "apfs" and len(call.texts) > 1 and re.match(r"delete|erase", call.texts[1].lower())):
        yield call.effect(
            "device", "critical", " ".join(call.texts), where="device", why="data on a disk are destroyed"
        )


def _cryptsetup(call: ProgramCall) -> Iterator[Effect]:
    if set(call.texts) & {"luksFormat", "reencrypt", "luksRemoveKey", "luksKillSlot"}:
        yield call.effect(
            "device", "critical", " ".join(call.texts), where="device", why="data on a disk are destroyed"
        )
    elif "erase" in call.texts or "luksErase" in call.texts:
        yield call.effect(
            "device", "medium", " ".join(call.texts), where="device", why="all keys of the disk are erased"
        )


_GUARDIAN = LazyPattern(r"(?i)hookline|\bnah\b|\bdcg\b|shguard|safety-net")


def _kill(call: ProgramCall) -> Iterator[Effect]:
    options = parse_options(
        [word for word in call.words if not re.fullmatch(r"-(\d+|(SIG)?[A-Z]{3,}\d*)", word.text)],
        "s:,signal: n: l,list? L q: p f,full x,exact u:,euid:,user: U: g: P: G: t: n,newest o,oldest i I e v w,wait r,regexp a k",
    )
    if options.any("list", "L") or options.informs or (call.name == "fuser" and "k" not in options):
        return
    names = " ".join(word.text for word in options.operands)
    asked = [*call.invocation.upstream, *(one for word in options.operands for one in word.sources)]
    found = " ".join(word.text for one in asked for word in one.argv)  # kill $(pgrep …)
    everything = (
        "-1" in call.texts and call.name == "kill" and any(word.text == "-1" for word in call.words[1:] or ())
    ) or (re.search(r"(^| )(1|-1)( |$)", names) and call.name == "kill")
    if _GUARDIAN.search(f"{names} {found}"):
        yield call.effect("guard", "critical", names, why="it stops the guard of this machine")
    elif everything:
        yield call.effect("process", "critical", names, why="it kills every process, or the first one")
    elif call.name in {"pkill", "killall", "killall5"}:
        wide = options.any("euid", "U", "regexp") or names in {".", ".*", ""} or call.name == "killall5"
        yield call.effect("process", "high" if wide else "medium", names, why="it kills all processes of that name")
    else:
        yield call.effect("process", "low", names)


def _service(call: ProgramCall) -> Iterator[Effect]:
    texts = [text for text in call.texts if not text.startswith("-")]
    verb = texts[0] if texts else ""
    names = " ".join(texts[1:])
    if call.name == "service" and len(texts) > 1:
        verb, names = texts[1], texts[0]
    if re.match(
        r"(enable|start|restart|reenable|link|edit|set-default|preset|load|bootstrap|kickstart|submit|enable-linger|add-wants|revert)$",
        verb,
    ):
        harm: Harm = "medium" if verb in {"start", "restart", "kickstart"} else "high"
        yield call.effect("persistence", harm, names, why="a service is started or set up to start by itself")
    elif re.match(
        r"(stop|disable|mask|kill|isolate|unload|bootout|remove|poweroff|reboot|halt|suspend|hibernate|rescue|emergency|kexec)$",
        verb,
    ):
        own = _GUARDIAN.search(names) is not None
        stops = verb in {"poweroff", "reboot", "halt", "rescue", "emergency", "kexec", "isolate"}
        yield call.effect(
            "guard" if own else "process",
            "critical" if own else "high" if stops else "medium",
            names or verb,
            why="a service or the machine is stopped",
        )


def _crontab(call: ProgramCall) -> Iterator[Effect]:
    options = call.options("u: l r e i s n T:")
    if "l" in options or options.informs:
        return
    why = "all scheduled jobs are deleted" if "r" in options else "it runs later by itself"
    yield call.effect(
        "persistence",
        "high",
        " ".join(call.texts),
        why=why,
        safer="crontab -l > backup first" if "r" in options else "",
    )


def _at(call: ProgramCall) -> Iterator[Effect]:
    if not set(call.texts) & {"-l", "-V", "-c", "--help"}:
        yield call.effect("persistence", "high", " ".join(call.texts), why="it runs later by itself")


_ASKS_SUDO: Final = words("-l --list -v -k -K -V --version -h --help --validate")


def _gain(call: ProgramCall) -> Iterator[Effect]:
    """sudo and its like; what they start is an invocation of its own."""
    if call.name in {"sudo", "doas"} and set(call.texts) & _ASKS_SUDO:
        return
    if (
        not any(not text.startswith("-") for text in call.texts)
        and call.name not in {"su", "pkexec"}
        and "-i" not in call.texts
        and "-s" not in call.texts
    ):
        return
    yield call.effect("privilege", "medium", " ".join(call.texts[:3]), why="it runs with the rights of another user")


def _hookline(call: ProgramCall) -> Iterator[Effect]:
    """What an agent may not do to hookline itself; what only shows something is free."""
    texts = [text for text in call.texts if not text.startswith("-")]
    verb, action = (*texts, "", "")[:2]
    weakens = (
        verb in {"undeploy", "purge", "remove", "init"}
        or (verb == "trust" and "--list" not in call.texts)
        or (verb == "daemon" and action in {"stop", "restart"})
        or (verb == "hooks" and action in {"off", "disable", "remove", "delete", "edit", ""})
        or (
            verb in {"packs", "pack", "add", "update", "policy", "fleet", "sync"}
            and action not in {"check", "test", "status", "list"}
        )
    )
    if weakens and not set(call.texts) & _HELP and verb:
        yield call.effect(
            "guard",
            "critical",
            f"{call.name} {verb}",
            why="it changes or stops the guard of this machine",
            safer="ask the person to run it",
        )


_LOOSE: Final = words(
    "--safe-mode --pure --bare --no-hooks --disable-hooks --dangerously-skip-permissions --yolo --allow-all-tools --dangerously-bypass-approvals-and-sandbox --full-auto --permission-mode=bypassPermissions"
)


def _agent(call: ProgramCall) -> Iterator[Effect]:
    """Agents started without their hooks or without asking."""
    found = sorted(set(call.texts) & _LOOSE)
    if found and not set(call.texts) & _HELP:
        yield call.effect(
            "guard", "high", " ".join(found), why="an agent without its hooks or without asking has no guard"
        )


def _guard_tool(call: ProgramCall) -> Iterator[Effect]:
    if (
        set(call.texts) & {"uninstall", "disable", "off", "remove", "allow", "trust", "unprotect", "pause"}
        and not set(call.texts) & _HELP
    ):
        yield call.effect("guard", "critical", " ".join(call.texts), why="it changes or stops a guard of this machine")


def _pull_out(call: ProgramCall) -> Iterator[Effect]:
    """Reading of keychains and password stores."""
    text = " ".join(call.texts)
    if call.name == "security" and re.search(
        r"find-(generic|internet)-password.* -\w*[wg]|dump-keychain|export", " " + text
    ):
        yield call.effect("secret", "high", text, why="it prints stored passwords")
    elif call.name == "security" and re.search(
        r"delete-|unlock-keychain|set-key|add-trusted-cert|authorizationdb", text
    ):
        yield call.effect("privilege", "medium", text, why="it changes the keychain")
    elif (
        call.name in {"pass", "op", "bw", "lpass", "secret-tool", "gopass", "vault", "doppler", "infisical", "chamber"}
        and re.search(r"\b(show|read|get|item|lookup|kv|export|secrets|ls)\b", text)
        and " list" not in text
    ):
        yield call.effect("secret", "medium", text, why="it prints stored passwords")
    elif call.name == "gpg" and re.search(r"--export-secret|--delete-(secret-)?key", text):
        yield call.effect("secret", "high", text, why="it prints or deletes private keys")


def _history(call: ProgramCall) -> Iterator[Effect]:
    if set(call.texts) & {"-c", "-cw", "-d"}:
        yield call.effect("delete", "medium", "history", why="the record of what was done is deleted")


def _set_hostname(call: ProgramCall) -> Iterator[Effect]:
    if call.name in {"networksetup", "scutil"} and not re.match(
        r"-(set|remove|delete|create)|--set", " ".join(call.texts)
    ):
        return
    if call.name == "defaults" and call.texts[:1] not in (("write",), ("delete",), ("import",)):
        return
    yield call.effect("persistence", "medium", " ".join(call.texts), why="it changes settings of the machine")


def _journal(call: ProgramCall) -> Iterator[Effect]:
    if any(text.startswith(("--vacuum", "--rotate", "--flush")) for text in call.texts):
        yield call.effect("delete", "medium", " ".join(call.texts), why="logs are deleted")


def _tmutil(call: ProgramCall) -> Iterator[Effect]:
    if re.match(r"delete|disable|thinlocal|removedestination", " ".join(call.texts)):
        yield call.effect("delete", "high", " ".join(call.texts), why="backups are deleted or stopped")


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType({
    **dict.fromkeys((*_ALWAYS, "lvm", "mkfs.ext4", "mkfs.ext3", "mkfs.ext2", "mkfs.xfs", "mkfs.btrfs", "mkfs.vfat", "mkfs.fat", "mkfs.ntfs", "mkfs.f2fs", "mkfs.exfat", "mkfs.minix", "mkfs.jfs", "mkfs.bfs", "mkfs.cramfs", "mkfs.reiserfs"), _always),
    **dict.fromkeys(words("kill pkill killall killall5 skill xkill fuser"), _kill),
    **dict.fromkeys(words("systemctl service launchctl rc-service initctl sv loginctl"), _service),
    **dict.fromkeys(("at", "batch"), _at),
    **dict.fromkeys(words("sudo doas su pkexec runuser gosu su-exec run0 runas sudoedit"), _gain),
    **dict.fromkeys(words("claude opencode codex gemini qwen copilot letta cursor-agent amp droid"), _agent),
    **dict.fromkeys(words("nah dcg shguard dippy cc-safety-net"), _guard_tool),
    **dict.fromkeys(words("security pass op bw lpass secret-tool gopass vault doppler gpg infisical chamber"), _pull_out),
    **dict.fromkeys(words("networksetup scutil defaults hostnamectl timedatectl localectl ssh-copy-id"), _set_hostname),
    "diskutil": _diskutil, "cryptsetup": _cryptsetup, "crontab": _crontab, "hookline": _hookline, "history": _history,
    "journalctl": _journal, "tmutil": _tmutil, "smartctl": _always,
})  # fmt: skip
