"""Everyday routes through a shell: what a person types, and the file that the shell reads before.

A line is typed and entered; ``<Key>`` is pressed as tmux calls it, and is not followed by Enter.
"""

from __future__ import annotations

from pathlib import Path

#: Where ``make shells`` puts what only npm has.
PACKAGES = Path(__file__).parents[2] / "build" / "shells"
PREEXEC = PACKAGES / "inshellisense" / "shell" / "bash-preexec.sh"

#: Name, lines of the rc file before hookline's, what is typed.
Route = tuple[str, str, tuple[str, ...]]

#: For both shells.
COMMON: tuple[Route, ...] = (
    ("echo", "", ("echo hello world", "echo 'single $x' \"double $HOME\" | wc -w")),
    ("no newline at the end", "", ("printf 'the answer is 42'", "echo next")),
    ("status", "", ("false", "echo $?", "true", "echo $?", "(exit 7)", "echo $?", "! true; echo $?")),
    ("last argument", "", ("mkdir -p deep/down && cd $_", "pwd | sed 's,.*/work,,'", "echo one two", "echo $_")),
    ("lists", "", ("true && echo and || echo or", "false && echo and || echo or", "false; echo go on")),
    ("pipelines", "", ("printf 'b\\na\\n' | sort | head -1", "seq 5 | tail -2", "yes | head -2")),
    ("redirections", "", ("echo one > f; echo two >> f", "cat < f", "cat f f 2>/dev/null | wc -l", "ls none 2>&1 | wc -l")),
    ("here-document", "", ("cat <<END", "a $((1+1))", "END", "cat <<<word")),
    ("continued lines", "", ("for i in 1 2", "do", "echo $i", "done", "echo a \\", "b")),
    ("loops", "", ("for i in a b c; do echo $i; done", "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i")),
    ("conditions", "", ("if [ -d / ]; then echo dir; fi", "[[ abc == a* ]] && echo match", "case x in x) echo is x;; esac")),
    ("functions", "", ("greet() { echo hello $1; return 3; }", "greet you", "echo $?", "greet a | cat")),
    ("subshells", "", ("(cd /; pwd)", "(exit 4); echo $?", "x=$(echo inner); echo $x", "{ echo a; echo b; } | wc -l")),
    ("variables", "", ("x=1 y=two; echo $x $y", "X=3 sh -c 'echo $X'", "export Z=4; env | grep ^Z=", "unset Z; echo ${Z-none}")),
    ("arithmetic", "", ("echo $((2 ** 10))", "((3 > 2)) && echo yes", "let n=4*5; echo $n")),
    ("globs", "", ("touch a.txt b.txt c.md", "ls *.txt", "echo [ab]*", "rm *.txt; ls")),
    ("background", "", ("sleep 0.1 & wait $!; echo waited", "jobs")),
    ("job control", "", ("sleep 30", "<C-z>", "jobs", "fg", "<C-c>", "jobs")),
    ("interrupt", "", ("sleep 30", "<C-c>", "echo $?")),
    ("edit the line", "", ("echo abX<BSpace>c<Home><End>", "echo one two<C-w>three", "<C-u>echo fresh")),
    ("history", "", ("echo first", "echo second", "<Up><Up>", "fc -ln -2")),
    ("history search", "", ("echo needle in hay", "echo other", "<C-r>needl<Enter>", "true")),
    ("not found", "", ("nosuchcommand -x", "echo $?", "nosuch | cat; echo $?")),
    ("syntax error", "", ("echo ) oops", "echo $?", "if then", "echo on")),
    ("exit trap in a subshell", "", ("(trap 'echo bye' EXIT; true)", "x=$(trap 'echo inner' EXIT; :); echo $x")),
    ("trap listing", "trap 'echo usr1' USR1\n", ("trap", "kill -USR1 $$", "trap - USR1; trap; echo none")),
    ("int trap", "", ("trap 'echo caught' INT", "kill -INT $$", "trap - INT; echo off")),
    ("xtrace", "", ("set -x", "echo traced", "x=1", "f() { true; }; f", "set +x", "echo quiet")),
    ("brace expansion", "", ("echo {a,b}{1..3}", "touch f{1,2}; ls f?")),
    ("errexit in a subshell", "", ("(set -e; false; echo no); echo $?",)),
    ("nounset", "", ("set -u", "echo ${nope-unset}", "set +u; echo done")),
    ("noclobber", "", ("set -C", "echo a > file; echo b > file", "set +C", "cat file")),
    ("eval and source", "", ("echo 'echo sourced; v=5' > s.sh", ". ./s.sh; echo $v", "eval 'echo evaluated'")),
    ("aliases", "alias ll='echo listed'\n", ("ll here", "alias gs='echo status'", "gs", "unalias gs; alias ll")),
    ("read", "", ("read x", "typed words", "echo [$x]", "echo a b | { read p q; echo $q; }")),
    ("pager", "", ("seq 100 | less", "q<Nothing>", "echo back")),
    ("clear", "", ("echo before", "clear", "echo after")),
    ("long lines", "", ("echo " + "word " * 30, "true")),
    ("unicode", "", ("echo grün é ü 日本", "x=é; echo ${#x}")),
    ("colours", "", ("printf '\\033[31mred\\033[0m\\n'", "ls --color=always / | head -1 | cat -v | wc -l")),
    ("directories", "", ("cd /tmp; pwd; cd - >/dev/null", "pushd / >/dev/null; popd >/dev/null; echo back", "cd nosuch; echo $?")),
    ("a new project", "", ("mkdir -p p/.git && cd p", "cd ..; ls", "cd p; echo in")),
    ("end of file in cat", "", ("cat", "line", "<C-d>", "echo after")),
    ("time", "", ("TIMEFMT=t TIMEFORMAT=t", "time true", "time (true | false)")),
    ("exec a redirection", "", ("exec 3> out; echo to three >&3; exec 3>&-; cat out",)),
    ("process substitution", "", ("cat <(echo left) <(echo right)", "diff <(echo a) <(echo a) && echo same")),
    ("arrays", "", ("a=(x y z); echo ${#a[@]}", "a+=(w); echo ${a[@]}")),
    ("command -v", "", ("command -v cd", "type true", "command echo plain")),
    ("ignored spaces", "HISTCONTROL=ignorespace; setopt hist_ignore_space 2>/dev/null\n", (" echo secret", "echo seen", "fc -ln -1")),
    ("tab completion", "", ("touch unique_name", "ls uniq<Tab>", "echo done")),
    ("kill and yank", "", ("echo alpha beta<C-w><C-y>gamma",)),
    ("comment", "setopt interactive_comments 2>/dev/null\n", ("echo a # b", "# only this", "echo c")),
    ("suspended editor", "", ("sh -c 'kill -STOP $$; echo resumed'", "fg", "echo on")),
    ("bang", "", ("echo one", "!!", "!echo:s/one/two/")),
    ("subshell status in a pipe", "", ("(exit 3) | (exit 4)", "echo $?", "set -o pipefail; (exit 3) | true; echo $?")),
    ("multi-command line", "", ("echo a; echo b; (echo c); { echo d; }; echo e | cat",)),
    ("umask and ulimit", "", ("umask", "umask 027; umask", "ulimit -n >/dev/null; echo $?")),
    ("printf formats", "", ("printf '%03d|%s|%x\\n' 7 str 255", "printf '%s\\n' a b c")),
    ("wait for status", "", ("(exit 9) & wait $!; echo $?",)),
    ("quoting", "", ("echo 'it'\\''s' \"a \\\"b\\\"\"", "echo $'tab\\there'", 'echo "open', 'closed"')),
)  # fmt: skip

BASH: tuple[Route, ...] = (
    ("PROMPT_COMMAND ends in ;", "PROMPT_COMMAND='echo prompted;'\n", ("true", "echo $PROMPT_COMMAND")),
    ("PROMPT_COMMAND is extended later", "PROMPT_COMMAND='echo one'\n", ('PROMPT_COMMAND="echo two; $PROMPT_COMMAND"', "true")),
    ("PROMPT_COMMAND is an array", "PROMPT_COMMAND=('echo A' 'echo B')\n", ("true", "PROMPT_COMMAND+=('echo C')", "true")),
    ("PIPESTATUS", "PROMPT_COMMAND='echo [${PIPESTATUS[*]}] $?'\n", ("false | true", "(exit 3)", "echo ${PIPESTATUS[*]}")),
    ("history -a", 'HISTFILE=~/lines; PROMPT_COMMAND="history -a; $PROMPT_COMMAND"\n', ("echo kept", "tail -1 ~/lines")),
    ("DEBUG trap", "trap 'echo \"[$BASH_COMMAND]\"' DEBUG\n", ("echo one; echo two", "(echo sub)", "trap -p DEBUG")),
    ("DEBUG trap set at the prompt", "", ("trap 'echo D' DEBUG", "echo one", "cd /", "trap - DEBUG", "trap -p")),
    ("ERR and RETURN traps", "trap 'echo E' ERR; trap 'echo R' RETURN\n", ("false", "f() { true; }; f", "set -T; f", "echo 'true' > s; . ./s")),
    ("functrace", "", ("set -T; trap 'echo D' DEBUG", "f() { echo in; }; f", "$(true)")),
    ("option letters", "", ("echo $-", "shopt -q extdebug || echo off", "set -o | grep functrace")),
    ("prompt with status", "PS1='[$?]@@ '\n", ("false", "true", "(exit 42)")),
    ("prompt with a command", "PS1='$(echo sub)@@ '\n", ("true", "cd /", "false")),
    ("PS0 of one's own", "PS0='starting\\n'\n", ("echo a", "echo $PS0")),
    ("prompt number", "PS1='\\#@@ '\n", ("true", "echo a; echo b", " true")),
    ("own not-found handler", 'command_not_found_handle() { echo "mine: $1"; return 99; }\n', ("nosuch", "echo $?")),
    ("vi mode", "set -o vi\n", ("echo vi", "true")),
    ("pyenv-like", "_py() { local s=$?; x=$s; return $s; }; PROMPT_COMMAND='_py;'\n", ("false", "echo $x $?")),
    ("last background", "", ("echo [$!]", "sleep 0.2 & wait", "jobs")),
    ("dirs and cdspell", "shopt -s cdspell autocd\n", ("mkdir sub", "sub", "pwd | sed 's,.*/,,'")),
    ("bash-preexec", f'. {PREEXEC}\npreexec() {{ echo "pre [$1]"; }}; precmd() {{ echo "cmd $?"; }}\n',
     ("echo one", "false", "echo a; echo b", "(exit 3)", "cd /", "true | cat")),
    ("starship", 'eval "$(starship init bash)"; PS1="$PS1@@ "\n', ("false", "cd /", "true")),
    ("here-string loop", "", ("while read -r l; do echo [$l]; done <<< $'a\\nb'", "mapfile -t m < <(seq 3); echo ${m[@]}")),
)  # fmt: skip

ZSH: tuple[Route, ...] = (
    ("pipestatus", "", ("false | true", "echo $pipestatus", "false | true; echo $pipestatus")),
    ("precmd and preexec", "precmd() { echo pre $? }; preexec() { echo exec: $1 }\n", ("false", "echo a")),
    ("hook arrays", "p() { echo $? $pipestatus }; precmd_functions+=(p)\n", ("false | true", "(exit 5)")),
    ("right prompt", "RPS1='right'\n", ("true", "echo $RPS1 $RPROMPT")),
    ("prompt_subst", "setopt prompt_subst; PROMPT='$(echo sub)@@ '\n", ("true", "cd /")),
    ("status in the prompt", "PROMPT='%?@@ '\n", ("false", "true", "(exit 9)")),
    ("DEBUG trap", "", ("trap 'print D' DEBUG", "echo one", "trap - DEBUG; trap")),
    ("TRAPDEBUG and TRAPZERR", "TRAPZERR() { print Z }\n", ("false", "TRAPDEBUG() { print D }", "true", "unfunction TRAPDEBUG")),
    ("own not-found handler", 'command_not_found_handler() { echo "mine: $1"; return 99 }\n', ("nosuch", "echo $?")),
    ("functions and exit traps", "", ("f() { trap 'print leaving' EXIT; print in }", "f", "g() { local x=1; print $x }; g")),
    ("chpwd", "chpwd() { echo moved }\n", ("cd /", "cd - > /dev/null")),
    ("zle widget", "w() { BUFFER='echo from widget'; zle accept-line }; zle -N w; bindkey '^T' w\n", ("<C-t>", "true")),
    ("vi mode", "bindkey -v\n", ("echo vi", "true")),
    ("extended globs", "setopt extended_glob null_glob\n", ("touch a b c", "print -l ^a(.)", "print *(/)")),
    ("auto_cd", "setopt auto_cd\n", ("mkdir sub", "sub", "print ${PWD:t}")),
    ("err_exit is off", "", ("setopt | grep -c err", "false; print on")),
    ("last background", "", ("print $!", "sleep 0.2 & wait", "jobs")),
    ("print -z", "", ("print -z echo pushed", "<Enter>", "true")),
    ("syntax highlighting", "P=/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh; [ -r $P ] && . $P\n", ("echo lit", "nosuch", "true")),
    ("oh-my-zsh", "ZSH=/usr/share/oh-my-zsh; plugins=(git); . $ZSH/oh-my-zsh.sh; PROMPT='@@ '\n", ("echo one", "gst; echo $?", "cd /")),
    ("starship in zsh", 'eval "$(starship init zsh)"; PROMPT="$PROMPT@@ "\n', ("false", "cd /", "true")),
    ("autosuggestions", "P=/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh; [ -r $P ] && . $P\n", ("echo suggestion", "true", "echo sug<End>")),
)  # fmt: skip

#: Routes through other people's programs -> the file that must be there.
NEEDS = {
    "syntax highlighting": "/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh",
    "autosuggestions": "/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh",
    "oh-my-zsh": "/usr/share/oh-my-zsh/oh-my-zsh.sh",
    "bash-preexec": str(PREEXEC),
    "starship": "/usr/bin/starship",
    "starship in zsh": "/usr/bin/starship",
}

#: What the manual says is not as without hookline while lines are watched: their own DEBUG traps, and PS0.
WATCHED = {
    "DEBUG trap", "DEBUG trap set at the prompt", "functrace", "ERR and RETURN traps", "PS0 of one's own",
    "TRAPDEBUG and TRAPZERR",
}  # fmt: skip
