"""A fourth set of routes: other programs and back, ends of shells, and what the shell is in the middle of when Enter is pressed."""

from __future__ import annotations

from tests.shell.routes import Route

#: Not walked: the manual says what is seen there.
SEEN = {"bash-guard-open files", "bash-observer-open files"}
NEEDS = {"vim and back": "/usr/bin/vim", "git and its editor": "/usr/bin/vim"}

_GIT = (  # commits of one date have one digest
    "export GIT_AUTHOR_DATE='2026-01-01 00:00 +0000' GIT_COMMITTER_DATE='2026-01-01 00:00 +0000'; "
    "export GIT_CONFIG_GLOBAL=~/gc; git config --global user.name a; git config --global user.email b; "
    "git config --global init.defaultBranch main; git config --global core.pager less\n"
)

COMMON: tuple[Route, ...] = (
    ("vim and back", "", ("vim -u NONE -N f", "ihello<Escape>:wq<Enter>", "cat f; echo $?", "vim -u NONE -N f", "<C-z>", "jobs", "fg", ":q!<Enter>", "echo back $?")),
    ("git and its pager", _GIT, ("git init -q r; cd r; echo a > f; git add f", "git commit -qm first", "git log --format=%s", "q<Nothing>", "echo b > f; git diff", "q<Nothing>", "git --no-pager diff --stat", "git -p status -s", "q<Nothing>", "echo $?")),
    ("git and its editor", _GIT + "export GIT_EDITOR='vim -u NONE -N'\n", ("git init -q r; cd r; touch f; git add f", "git commit", "isubject<Escape>:wq<Enter>", "git --no-pager log --format=%s", "git commit --amend", ":cq<Enter>", "echo $?")),
    ("a stopped loop", "", ("for i in 1 2; do sh -c 'kill -STOP $$; echo went on'; done", "fg", "fg", "jobs", "echo $?")),
    ("jobs to and fro", "", ("sleep 171 & p=$!", "sleep 172", "<C-z>", "fg %1", "<C-z>", "bg %1", "jobs -l | wc -l", "disown %1", "jobs", "kill %2; sleep 0.3", "jobs", "kill $p; echo $?")),
    ("here-document given up", "", ("cat <<END", "text", "<C-c>", "echo $?", "cat <<END", "text", "<C-d>", "echo $?")),
    ("typed ahead", "", ("sleep 3", "echo typed ahead; false", "echo $?", "true")),
    ("paste of a function", "bind 'set enable-bracketed-paste on' 2>/dev/null\n", ("PASTE:greet() {\n\tlocal who=$1\n\techo hello $who\n}\ngreet you", "<Enter>", "greet me", "PASTE:cat <<END\ninside\nEND\n", "<Enter>", "true")),
    ("paste of a long line", "bind 'set enable-bracketed-paste on' 2>/dev/null\n", ("PASTE:echo 012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789 | wc -c", "<Enter>", "true")),
    ("the shell ends on an error", "", ("set -e", "true; echo ok | grep -q ok", "false || true", "if false; then :; fi; echo on", "false")),
    ("the shell ends on an error in a function", "", ("f() { false; echo never; }; f || echo caught", "set -e; f || echo caught", "(exit 0); ! true; echo on", "f")),
    ("exit with a trap", "", ("trap 'echo bye $?' EXIT", "(exit 3)", "exit 5")),
    ("end of file with a trap", "trap 'echo leaving $?' EXIT\n", ("false", "<C-d>")),
    ("cd as a function", 'cd() { builtin cd "$@" && echo "now in ${PWD##*/}"; }\n', ("mkdir sub; cd sub", "cd ..", "cd nosuch; echo $?", "pushd / >/dev/null; popd >/dev/null; pwd | wc -l")),
    ("commands as functions", 'ls() { command ls "$@" | sed "s/^/- /"; }; git() { echo "git: $*"; }; rm() { echo "rm: $*"; }\n', ("touch a b; ls", "git push", "rm -rf nothing", "unset -f git rm; command -v ls", "\\ls")),
    ("settings of the terminal", "", ("stty -ixon; stty -a | grep -c -- -ixon", "stty -icanon min 1; stty icanon; echo cooked", "stty sane; echo sane", "stty erase '^H'; echo ab<C-h>c", "stty erase '^?'; echo ok", "tput cols; tput lines")),
    ("resize while editing", "", ("echo a long line that is being typed xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx<Nothing>", "RESIZE:40", "RESIZE:78", " end", "true")),
    ("a name with a newline", "", ("mkdir $'a\\nb'; cd $'a\\nb'", "echo in; false", "echo $?", "cd ..; rmdir a*; ls")),
    ("a deep directory", "", ("d=$(printf 'x%.0s' {1..120}); mkdir -p $d/$d/$d; cd $d/$d/$d", "echo in; false", "echo $?", "cd ../../..; echo out")),
    ("an interrupted substitution", "", ("x=$(sleep 20)", "<C-c>", "echo $?", "echo $(sleep 20; echo never)", "<C-c>", "echo on")),
    ("a file of variables", "", ("printf 'K=v\\nL=\"w x\"\\n' > .env", "set -a; . ./.env; set +a", "sh -c 'echo $K $L'", "while IFS== read -r k v; do echo $k; done < .env")),
    ("open files", "", ("exec 7< /etc/passwd; read -u 7 l; echo ${l%%:*}; exec 7<&-", "exec {n}>out; echo x >&$n; exec {n}>&-; cat out", "ls /dev/fd/ | wc -w", "cat /dev/stdin <<< in; echo err > /dev/stderr")),
    ("not executable", "", ("echo 'echo script $1' > s; ./s; echo $?", "chmod +x s; ./s arg", "printf '#!/nonexistent\\n' > t; chmod +x t; ./t; echo $?", "PATH=$PATH:.; s b", "PATH=; ls; echo $?")),
    ("a command over lines of every kind", "", ("a=(one", "two", ")", "echo ${#a[@]}", "[[ a ==", "a ]] && echo same", "((1 +", "2)) && echo sum", "x=$(", "echo inner", "); echo $x", "echo $((1 +", "2))", "select y in p q; do", "break; done", "1")),
    ("loops and conditions over lines", "", ("for ((i=0; i<2;", "i++)); do", "echo $i", "done", "if [[ -d / &&", "-d /tmp ]]; then echo both; fi", "g() {", "case $1 in", "(a) echo A ;;", "(b) echo B ;;", "esac", "}", "g a; g b", "until true; do", ":; done", "echo ${x:-", "y}")),
    ("a case over lines", "", ("case x in x) cat <<E", "text", "E", ";;", "esac", "while read l; do case $l in", "a) echo got a;;", "esac; done <<< a", "function h", "{", "echo h", "}", "h", "{ echo g;", "}", "! [[ a", "== b ]]; echo $?")),
)  # fmt: skip

BASH: tuple[Route, ...] = (
    # zsh itself may crash where a function replaces itself while it runs.
    ("a lazy function", 'nvm() { unset -f nvm; nvm() { echo real "$@"; }; nvm "$@"; }\n', ("nvm use 1", "nvm use 2", "type nvm | head -1", "unset -f nvm; nvm; echo $?")),
    ("running jobs at exit", "shopt -s checkjobs\n", ("sleep 47 &", "exit", "echo still", "kill %1; sleep 0.3", "exit")),
    ("everything is exported", "set -a\n", ("env | grep -c '^_hl'; env | wc -l", "x=5; sh -c 'echo $x'", "env | grep -c _hl_; set +a; true", "set -a", "true", "env | grep -c '^_hl_'; set +a", "env | grep -c '^_hl_'")),
    ("time of a subshell that exits", "TIMEFORMAT=took\n", ("time (exit 3)", "echo $?", "time (false; exit 4) | cat", "time (true)", "echo ${PIPESTATUS[@]}")),
    ("variables without their meaning", "", ("unset EPOCHREALTIME HISTCMD; echo a", "false", "echo $?", "unset BASHPID BASH_COMMAND FUNCNAME; echo b; false", "echo $?")),
    ("a DEBUG trap that skips", "shopt -s extdebug; trap '[[ $BASH_COMMAND != echo?skip* ]]' DEBUG\n", ("echo a", "echo skipme", "echo b; echo skipme; echo c", "false", "echo $_ $?", "trap - DEBUG; shopt -u extdebug; echo skipme")),
    ("time out of the shell", "", ("echo a", "TMOUT=1", "<Nothing>")),
    ("keys with meta", "", ("touch mm1 mm2; ls mm<M-*>", "echo $((1+1))<M-C-e>", "echo comment<M-#>", "echo a<C-x>(<Nothing>", "b<C-x>)<C-x>e<Nothing>", "<Enter>", "true")),
    ("options that matter to scripts", "shopt -s nocasematch nocaseglob nullglob xpg_echo\n", ("[[ ABC == abc ]] && echo same", "touch A; echo a*", "echo 'a\\tb'", "case X in x) echo x;; esac; false", "echo $?")),
    ("aliases of builtins", "alias read='read -r' local='local ' printf='printf --' exec='exec ' sleep='sleep ' declare='declare ' eval='eval ' trap='trap ' return='return '\n", ("echo a; false", "echo $?", "f() { local x=1; return 4; }; f; echo $?", "cd /; pwd")),
    ("functions of builtins", 'printf() { builtin printf "$@"; }; read() { builtin read "$@"; }; sleep() { command sleep "$@"; }; trap() { builtin trap "$@"; }\n', ("printf 'x\\n'; false", "echo $?", "trap 'echo u' USR1; kill -USR1 $$", "cd /; pwd")),
    ("IFS of digits", "IFS=0123456789\n", ("echo a; false", "echo $?", "x=a1b; echo $x", "cd /; (exit 3)", "echo $?", "unset IFS")),
    ("PROMPT_COMMAND at run time", "", ("PROMPT_COMMAND='echo pc1'", "true", "PROMPT_COMMAND+=('echo pc2')", "false", "PROMPT_COMMAND[0]='echo st $?'", "false", "PROMPT_COMMAND='PS1=\"[\\$?]@@ \"'", "false", "unset PROMPT_COMMAND[0]; true")),
    ("history per line", "PROMPT_COMMAND='history -a; history -c; history -r'; HISTFILE=~/lines\n", ("echo a", "echo b", "<Up><Up><Enter>", "wc -l < ~/lines", "false", "echo $?")),
    ("readonly variables", "", ("readonly HISTCMD 2>/dev/null; readonly PS4; echo $?", "readonly x=1; x=2; echo same line", "echo $?", "f() { local -r y=1; y=2; echo never; }; f", "echo $?")),
    ("the last argument of each line", "", ("echo one two", "echo $_", "mkdir sub; false", "echo [$_] $?", "cd sub", "echo $_ $_")),
    ("builtins that speak", 'trap() { builtin trap "$@"; echo "trap $1"; }; exec() { echo "exec $*"; builtin exec "$@"; }\n', ("trap 'echo u1' USR1", "kill -USR1 $$", "false", "echo $?", "cd /", "exec 3>&1; echo three >&3")),
    ("not found in a trace", "", ("set -x", "nosuch a b", "echo $?", "set +x; nosuch 2>&1 | wc -l", "x=$(nosuch 2>&1); echo $x")),
    ("an EXIT trap that fails", "trap 'nosuch; echo $? $_; exit 11' EXIT\n", ("true last", "exit 3")),
    ("a trap for children", "trap : CHLD\n", ("/bin/true", "echo a | cat", "(exit 3); echo $?", "sleep 0.1 & wait; echo waited", "nosuch", "trap - CHLD; true")),
    ("read-only names of every kind", "readonly text=1 line=2 status=3 word=4 id=5 name=6 key=7 count=8 part=9 lines=1 file=2\n", ("echo a; false", "echo $?", "cd /; pwd", "f() { echo f; }; f | cat", "nosuch")),
    ("an error in a condition", "", ("[[ a ==", "true", "echo on; false", "echo $?", "if then", "[[ a == a ]] && echo same")),
)  # fmt: skip

ZSH: tuple[Route, ...] = (
    ("options that change how zsh reads", "setopt sh_glob posix_builtins posix_traps typeset_silent\n", ("echo a; false", "echo $?", "cd /; pwd", "(exit 3); echo $?")),
    ("everything is exported", "setopt all_export\n", ("env | grep -c '^_hl'; env | wc -l", "x=5; sh -c 'echo $x'", "true; env | grep -c '^_hl_'")),
    ("options as ksh", "emulate ksh; PS1='@@ '; setopt zle\n", ("echo a; false", "echo $?", "cd /; pwd", "a=(x y); echo ${a[0]}")),
    ("global aliases of all letters", "for l in A B C D E F G H I J K L M N O P Q R S T U V W X Y Z a n x; do alias -g $l=\"'$l'\"; done\n", ("echo A; false", "echo $?", "cd /; pwd", "nosuch; echo $?")),
    ("functions named as builtins", 'print() { builtin print fn $1; }; read() { builtin print r; }; emulate() { builtin print e; }; setopt() { builtin print o; }; kill() { builtin print k; }; zle() { builtin zle "$@"; builtin print z; }; trap() { builtin print t; }; eval() { builtin print v; }; true() { builtin print y; }\n', ("print a; false", "builtin echo $?", "cd /; nosuch", "sleep 30", "<C-c>", "builtin true")),
    ("global aliases of our words", "alias -g REPLY=XX fd=YY line=ZZ name=NN local=LL in=IN then=TH 'if=IF' 'do=DO' 'until=UU' -- -g=GG -x=HH\n", ("echo name; false", "echo $?", "cd /; nosuch", "echo line")),
    ("options of how zsh reads scripts", "setopt ignore_braces no_short_loops no_equals no_function_argzero no_bare_glob_qual\n", ("echo {a,b}; false", "echo $?", "f() { echo in; }; f", "cd /; nosuch")),
    ("quotes as in csh", "setopt csh_junkie_quotes\n", ("echo 'a b'; false", "echo $?", "cd /; nosuch")),
    ("an error trap", "TRAPZERR() { print Z $? }\n", ("false", "nosuch", "f() { nosuch }; f", "nosuch || true", "(nosuch; print in)", "echo $?")),
    ("readonly lists of hooks", "", ("readonly preexec_functions precmd_functions", "false; cd /", "echo $?", "nosuch")),
    ("a widget that ends the line", "w() { BUFFER='echo from widget'; zle accept-line }; zle -N w; bindkey '^T' w\n", ("<C-t>", "false", "echo $?")),
    ("precmd at run time", "", ("precmd() { print pre $? }", "false", "unfunction precmd; true", "p() { print p $? }; precmd_functions+=(p)", "false", "precmd_functions=(); true", "false; true")),
    ("preexec at run time", "", ('preexec() { print "exec [$1]" }', "echo a  b", 'x() { print "x [$3]" }; preexec_functions+=(x)', "echo c; echo d", "unfunction preexec; preexec_functions=()", "true")),
    ("zle -F of one's own", "h() { local l; read -r -u $1 l && print got $l; zle -F $1; exec {fd}<&-; zle reset-prompt }\n", ("exec {fd}< <(sleep 0.5; print news); zle -F $fd h; sleep 0.8", "true", "echo on")),
    ("scheduled", "zmodload zsh/sched\n", ("sched +1 print scheduled; sleep 1.2", "true", "sched | wc -l")),
    ("an alarm redraws", "TMOUT=1; TRAPALRM() { zle reset-prompt }\n", ("echo a; sleep 1.3", "echo b", "unset TMOUT; true")),
    ("exit hooks", "zshexit() { print leaving $? }; TRAPEXIT() { print trapped }\n", ("false", "(true)", "exit 3")),
    ("an EXIT trap at the top", "trap 'print out $?' EXIT\n", ("(exit 2)", "f() { true }; f", "trap | wc -l", "exit")),
    ("checks at exit", "", ("sleep 49 &", "exit", "kill %1; sleep 0.3", "exit")),
    ("not found in a function", "", ("f() { nosuch a }; f; echo $?", "g() {", "true", "nosuch b", "}", "g; f | cat", "(nosuch c); echo $?", "eval nosuch", "echo nosuch > s; . ./s")),
    ("a widget around another", 'w() { zle .self-insert; zle -M "len ${#BUFFER}" }; zle -N self-insert w\n', ("echo ab", "echo c<BSpace>d", "true")),
)  # fmt: skip
