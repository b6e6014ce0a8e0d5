"""Programs that only read, and the options and sub-commands with which they do.

``LEAVES``: program -> options with which it does more than read (letters, then long names); all else only reads.
``TREES``: program -> (options that take a value, sub-commands that only read, options that must not be there). A
sub-command is a word, or ``group:sub,sub``, to any depth. What is not listed is not granted.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.pattern import words

_ANY = (
    "ls cat head nl tac rev cut paste column fold expand unexpand fmt comm join wc tr pwd whoami id groups who w users logname tty uname arch_ hostid nproc uptime free vmstat iostat mpstat"
    " lscpu lsblk lspci lsusb lsmem lsmod lsof_ ps pgrep pstree top_ df du stat realpath readlink basename dirname md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 crc32"
    " grep egrep fgrep zgrep zcat bzcat xzcat zstdcat diff cmp colordiff od hexdump strings file_ size ldd_ objdump readelf otool dwarfdump addr2line c++filt"
    " echo printf true false test [ : seq yes factor expr bc_ jq getent locale getconf date_ cal ncal sleep which whereis type apropos whatis printenv"
    " dig nslookup host ping ping6 traceroute tracepath mtr_ whois netstat getfacl lsattr tree_ tokei scc_ exa eza bat_ glow_ sw_vers system_profiler mdls mdfind vm_stat pmset_ ioreg_"
    " look tsort shuf_ numfmt asa pr ack_ zipinfo zdiff zcmp xzgrep bzgrep lzcat lz4cat isutf8 chardet ansible-doc help exit_ wait return_ break_ continue_ times dirs tput_ cd mdutil_ binwalk_ exiftool_"
)  # fmt: skip

#: letters|long names
LEAVES: Final[Mapping[str, str]] = MappingProxyType({
    **{name: "" for name in _ANY.split() if not name.endswith("_")},
    "sort": "oT|output compress-program files0-from", "tail": "", "man": "CPH|config-file pager html", "ag": "|pager", "jobs": "x", "ansible-lint": "|fix write", "sdiff": "o|output diff-program", "diff3": "|diff-program", "nm": "|plugin", "info": "o|output", "ss": "K|kill", "ffprobe": "o", "uniq": "#", "rg": "z|pre hostname-bin search-zip", "file": "C|compile", "tree": "oR|output", "shuf": "o|output",
    "base64": "o|output", "base32": "o|output", "iconv": "o|output", "bat": "|pager", "less": "oOk+|log-file LOG-FILE lesskey", "more": "+", "sysctl": "wpfx|write load system", "hostname": "#F|file", "arch": "",
    "dmesg": "cCDEn|clear read-clear console-off console-on console-level", "ifconfig": "", "lsof": "D", "journalctl": "|vacuum-size vacuum-time vacuum-files rotate flush sync relinquish-var setup-keys cursor-file update-catalog smart-relinquish-var",
    "isort": "", "black": "", "ack": "|pager", "history": "cdanrwps", "xattr": "cdw", "mktemp": "", "scc": "o|output", "top": "", "mtr": "", "fc-list": "", "nice_": "",
})  # fmt: skip

#: program -> (value options, sub-commands, never)
TREES: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType({
    "git": (
        "-C -c --git-dir --work-tree --namespace",
        ("status log diff show shortlog ls-files ls-tree ls-remote describe rev-parse rev-list name-rev merge-base cat-file cherry for-each-ref grep count-objects fsck verify-commit verify-tag verify-pack whatchanged diff-tree diff-files diff-index range-diff show-ref show-branch blame annotate var version help check-ignore check-attr check-ref-format get-tar-commit-id patch-id "
        " remote:,show,get-url,-v stash:list,show notes:show,list reflog:,show,exists sparse-checkout:list lfs:ls-files,env,status,logs,version worktree:list submodule:status,summary bisect:log rerere:diff,status bundle:verify,list-heads replace:-l,--list"),
        "--output -O --open-files-in-pager --ext-diff --textconv --upload-pack --exec --prune -p --force -f --set-upstream --refmap --lost-found -u",
    ),
    "kubectl": (
        "-n --namespace --context --kubeconfig --cluster --user -s --server --request-timeout --as --as-group --token -v",
        "get describe logs explain top cluster-info api-resources api-versions diff wait version options completion kustomize auth:can-i,whoami rollout:status,history config:view,get-contexts,get-clusters,get-users,current-context plugin:list certificate:",
        "--raw --kubeconfig --output-directory --enable-exec --enable-alpha-plugins --enable-helm",
    ),
    "helm": (
        "-n --namespace --kube-context --kubeconfig --registry-config --repository-cache --repository-config --kube-apiserver --kube-token",
        "list ls get:all,hooks,manifest,notes,values,metadata show:all,chart,crds,readme,values inspect:all,chart,readme,values status history hist search:hub,repo template lint verify version env help completion repo:list,ls dependency:list,ls dep:list,ls plugin:list,ls,verify",
        "--post-renderer --output-dir",
    ),
    "docker": (
        "-H --host -c --context -l --log-level --config -f --file -p --project-name --env-file --profile --project-directory",
        ("ps images inspect logs top stats events diff info version search history port export save container:ls,list,ps,inspect,logs,top,stats,diff,port,export image:ls,list,inspect,history,save network:ls,list,inspect volume:ls,list,inspect context:ls,list,show,inspect system:info,df,events"
        " compose:ps,logs,config,images,version,ls,port,top,events service:ls,list,inspect,logs,ps stack:ls,list,ps,services node:ls,list,inspect,ps config:ls,list,inspect secret:ls,list,inspect plugin:ls,list,inspect buildx:du,version,ls trust:inspect manifest:inspect checkpoint:ls"),
        "-o --output --bootstrap --lock-image-digests --config",
    ),
    "gh": (
        "-R --repo --hostname",
        ("status version help pr:list,view,checks,status,diff issue:list,view,status repo:list,view run:list,view,watch workflow:list,view release:list,view,verify,verify-asset gist:list,view search:repos,issues,prs,commits,code cache:list secret:list variable:list,get label:list auth:status config:get,list codespace:list,view,logs cs:list,view,logs"
        " extension:list,search ext:list,search alias:list ssh-key:list gpg-key:list project:list,view,item-list,field-list ruleset:list,view,check rs:list,view,check attestation:verify,trusted-root org:list"),
        "--web -w --show-token -t_",
    ),
    "brew": ("", "info list ls search deps desc leaves uses outdated missing config doctor options tap-info log cat commands help home_ shellenv formulae casks livecheck_ --cache --cellar --caskroom --prefix --version -v --env --taps --repository -S bundle:check", "--fix --open_"),
    "npm": ("--prefix --registry -C", "list ls ll la info show view v search s outdated audit: help root prefix bin why explain find-dupes owner:ls,list access:list,get cache:ls,list completion dist-tag:ls,list profile:get pkg:get stars ping whoami query fund docs bugs config:ls,list,get c:ls,list,get get -v help-search", "--fix"),
    "pnpm": ("-C --dir", "list ls why outdated root bin audit licenses:list,ls help", "--fix"),
    "yarn": ("--cwd", "list info why outdated help licenses:list,ls versions bin", ""),
    "pip": ("--proxy --cache-dir", "list freeze show check config:list,get,debug help debug cache:list,dir,info index:versions inspect hash completion search", "--log --python"),
    "cargo": ("--color --config --manifest-path --target-dir -Z", "info tree metadata read-manifest locate-project pkgid verify-project search help version", "--config"),
    "uv": ("--directory --project --config-file --cache-dir --python", "help pip:list,freeze,show,tree,check python:list,find,dir cache:dir", "-o --output-file --python"),
    "terraform": ("-chdir", "show validate output graph providers:,schema version modules metadata:functions state:list,show,pull workspace:list,show", "-out -generate-config-out -lock=false_"),
    "cdk": ("--profile -c --context -a --app", "doctor context:", "--clear --reset -o --output"),
    "packer": ("", "validate inspect version plugins:installed,required", ""),
    "ip": ("-f -family -n -netns -rcvbuf -b", "addr:,show,list,ls,get address:,show,list,ls a:,show,list,ls link:,show,list,ls l:,show,list,ls route:,show,list,ls,get r:,show,list,ls,get rule:,show,list,ls ru:,show,list,ls neigh:,show,list,ls,get neighbor:,show n:,show,list tunnel:,show,list tuntap:,show,list tunt:,show maddr:,show,list maddress:,show m:,show mroute:,show monitor: mo: netns:,list,show,identify,pids netconf:,show stats:,show st:,show vrf:,show token:,list,show,get", "-b -batch -force"),
    "systemctl": ("-H -M -t --type --state -p --property -n -o", "status show cat list-units list-unit-files list-timers list-sockets list-dependencies list-jobs list-machines is-active is-enabled is-failed is-system-running get-default show-environment help", ""),
    "launchctl": ("", "list print print-disabled print-cache blame procinfo_ hostinfo resolveport_ dumpstate_ manageruid managername managerpid variant version help limit_", ""),
    "tmutil": ("", "help version destinationinfo latestbackup listbackups listlocalsnapshotdates listlocalsnapshots uniquesize compare isexcluded machinedirectory calculatedrift currentphase status", ""),
    "diskutil": ("", "list info information listFilesystems activity_", ""),
    "hdiutil": ("", "info verify checksum imageinfo isencrypted pmap plugins help", "-o"),
    "defaults": ("-host", "read read-type find domains help", ""),
    "profiles": ("", "status list show validate version help", "-o -output"),
    "security": ("", "help find-certificate find-identity find-key verify-cert translocate-status-check translocate-original-path show-keychain-info_ find-generic-password find-internet-password", "-w -g -d -o"),
    "dscl": ("", ".:-read,-list,-search,-diff,read,list,search,diff,-readall,readall,readpl,-readpl", ""),
    "auth0": ("--tenant -t", ("apps:list,ls,show users:search,search-by-email,show logs:list,ls,tail actions:list,ls,show,diff apis:list,ls,show roles:list,ls,show orgs:list,ls,show rules:list,ls,show domains:list,ls,show quickstarts:list,ls qs:list,ls tenants:list,ls event-streams:list,show,stats network-acl:list,show token-exchange:list,show"
        ""), ""),
    "7z": ("", "l t i b h", "-o -sdel"), "rtk": ("", "help version gain --help --version", ""),
    "ansible-galaxy": ("-p", "collection:list,verify role:list,search,info", "--help_"),
    "ansible-vault": ("--vault-password-file --vault-id", "", ""), "ansible-config": ("-c", "list dump view", ""), "ansible-inventory": ("-i --inventory", "--list --graph --host", "--output"),
    "ansible-test": ("", "env_", ""),
    "ruff": ("--config", "check rule config linter version help lint", "--fix --fix-only --add-noqa --watch -o --output-file --unsafe-fixes_"),
    "go": ("-C", "version env: doc help", "-w -u -toolexec -mod=mod"), "rustup": ("", "show which toolchain:list target:list component:list help check", ""), "rustc": ("", "--version -V --print", ""),
    "conda": ("-n -p", "list info search config:--show", ""), "poetry": ("-C --directory", "show check version: env:list,info config:--list about help search", ""), "apt": ("", "list search show policy depends rdepends", "-o --option -c --config-file"), "apt-cache": ("", "search show policy depends rdepends madison stats pkgnames showpkg", "-o --option -c --config-file"),
    "dpkg": ("", "-l -L -s -S --list --listfiles --status --search -p --print-avail", ""), "rpm": ("", "-q -qa -qi -ql -qf -V --query", "--pipe --eval -E --define --load --macros --rcfile"), "snap": ("", "list info find version", ""), "flatpak": ("", "list info search", ""), "pacman": ("", "-Q -Qi -Ql -Qs -Ss -Si -Qo -Qe", ""),
    "gem": ("", "list search info environment contents dependency outdated which help", ""), "mvn": ("-f", "dependency:tree_ -v --version", ""),
    "crontab": ("-u", "-l", "-r -e -i"), "tmux": ("-L -S", "ls list-sessions list-windows list-panes info show-options show-messages_ display-message_", ""), "screen": ("", "-ls -list", ""), "nmcli": ("", "device:,status,show connection:,show general:,status radio: networking: monitor", "--show-secrets -s"), "hostnamectl": ("", "status", ""), "timedatectl": ("", "status show list-timezones", ""), "loginctl": ("", "list-sessions list-users session-status user-status show-session show-user", ""),
    "networksetup": ("", "-version -help -printcommands", ""), "pulumi": ("-s --stack -C --cwd", "stack:ls,output,history config: whoami version about logs", "--show-secrets"), "virsh": ("-c --connect", "list dominfo domstate nodeinfo net-list pool-list vol-list version", ""),
    "heroku": ("-a --app", "apps apps:info ps logs releases addons status version domains pg:info regions stack", ""), "flyctl": ("-a --app", "status logs version apps:list releases regions:list,platform:regions", ""), "vercel": ("", "ls list whoami inspect", ""), "doctl": ("", "account:get balance:get compute_", ""),
    "svn": ("", "status info log diff list ls cat blame propget proplist help", "--diff-cmd --editor-cmd --config-option --config-dir"),
    "openssl": ("", "version list ciphers", "-out -keyout"), "gpg": ("--homedir --keyring", "--list-keys --list-secret-keys -k -K --version --list-packets_ --fingerprint", "--output -o"), "adb": ("-s", "devices version get-state", ""), "xcrun": ("", "--find --show-sdk-path --version simctl:list", ""), "xcodebuild": ("", "-list -version -showsdks -showBuildSettings", ""), "xcode-select": ("", "-p --print-path -v --version", ""),
})  # fmt: skip

SAME: Final[Mapping[str, str]] = MappingProxyType({
    "podman": "docker", "nerdctl": "docker", "pip3": "pip", "tofu": "terraform", "7za": "7z", "7zz": "7z", "7zr": "7z", "fly": "flyctl", "apt-get": "apt", "gsort": "sort", "ggrep": "grep", "gcat": "cat", "gls": "ls", "nodejs": "node", "fdfind": "fd", "batcat": "bat", "kubecolor": "kubectl", "oc": "kubectl",
})  # fmt: skip
#: Anything that only shows its version or help, whatever else it does.
VERSIONED: Final = words(
    "python python3 python2 node nodejs ruby perl php java javac go rustc cargo npm npx yarn pnpm pip pip3 uv uvx gcc g++ clang make cmake ninja bash zsh fish docker kubectl helm terraform git gh aws gcloud az brew curl wget ssh_ psql mysql sqlite3 redis-cli mongosh node deno bun tsc eslint prettier pytest ruff black mypy poetry rustup conda mvn gradle dotnet swift ansible ansible-playbook ansible-galaxy ansible-vault ansible-config ansible-console ansible-inventory ansible-pull ansible-test ansible-lint cdk packer pre-commit auth0 podman docker-compose podman-compose rsync tar gzip gunzip unzip 7z 7zz openssl gpg vim nvim nano emacs code tmux screen jq yq fzf fd rg sed awk gawk mawk find xargs sort iconv base64 xxd binhex applesingle macbinary symbols textutil sqlcmd duckdb prometheus promtool launchctl systemctl rtk pulumi vagrant make ffmpeg"
)
