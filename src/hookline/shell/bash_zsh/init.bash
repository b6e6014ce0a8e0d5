# hookline in bash: what every shell evaluates. While nothing is hooked it runs no command: PROMPT_COMMAND[99] only opens
# a file, which exists as long as the process beside this shell knows of no hook for this directory. An opened file fires
# no DEBUG trap, is not traced and leaves $?, $_ and PIPESTATUS alone. hookline.bash is read when something is hooked.

# Under "set -a" nothing of ours is exported.
_hl_exports=${-//[!a]}
if [[ -n $_hl_exports ]]; then builtin set +a; builtin export -n "${!_hl_@}"; fi

_hookline_start() {
  _hl_room=$_hl_home/$$-$EPOCHREALTIME
  _hl_idle=$_hl_room/idle/
  # Not a child of this shell: a plain "wait" would wait for it, and $! would name it.
  : "$( ("${_hl_program[@]}" shell-init bash --serve "$$" --room "$_hl_room" --reason "$1" </dev/null >/dev/null 2>&1 &) )"
}

# In a subshell, where no trap of the person runs: 1 if something is hooked in this directory, or may be.
_hookline_needs() {
  local _asks _answers _id=needs.$BASHPID _word _tries=0 IFS=
  builtin set +eux
  if [[ ! -e $_hl_room/ready ]] && _hookline_cached; then
    [[ -z $_hl_cached ]]
    builtin printf %s $?
    return
  fi
  # Nothing is known of this directory, as in the first shell ever: wait for the process to start.
  until [[ -e $_hl_room/ready ]] || ((_tries++ > 150)); do builtin command sleep 0.02; done
  if ! builtin read -r _word <"$_hl_room/ready" || ! builtin kill -0 "$_word"; then builtin printf 1; return; fi  # it is gone
  builtin exec {_asks}<>"$_hl_room/asks" {_answers}<>"$_hl_room/answers"
  builtin printf '%s\0' "$_id" 3 needs cwd "$PWD" >&"$_asks"
  while builtin read -r -d '' -t 5 -u "$_answers" _word && [[ $_word != "$_id" ]]; do :; done
  # The number of fields, and whether anything is hooked; the rest is for zsh.
  builtin read -r -d '' -t 1 -u "$_answers" _tries && builtin read -r -d '' -t 1 -u "$_answers" _word || _word=1
  while ((--_tries > 0)); do builtin read -r -d '' -t 1 -u "$_answers" _; done
  builtin printf %s "${_word:-1}"
}

# What the last process beside a shell knew of this directory, if none of the files that it read has changed since.
_hookline_cached() {
  local _file=$_hl_home/known/${PWD//\//%} _line
  local -a _lines
  _hl_cached=
  [[ -r $_file ]] || return 1
  builtin mapfile -t _lines <"$_file"
  for _line in "${_lines[@]:1}"; do
    case $_line in
      +*) [[ -e ${_line:1} && ! ${_line:1} -nt $_file ]] || return 1 ;;
      -*) [[ ! -e ${_line:1} ]] || return 1 ;;
    esac
  done
  _hl_cached=${_lines[0]}
}

_hookline_prompt() { local -; builtin set +a; builtin source "$_hl_script" && _hookline_load && _hookline_prompt "$@"; }

# A shell whose hookline was uninstalled would wait for it at every prompt.
_hookline_there() {
  [[ -x ${_hl_program[0]} ]] && return
  builtin printf 'hookline: %s is gone, so it cannot start hooks here. Install it again, or remove its line from ~/.bashrc.\n' "${_hl_program[0]}" >&2
  return 1
}

_hookline_restart() {
  _hookline_there || return
  _hookline_start restart
  if builtin declare -F _hookline_load >/dev/null; then _hookline_close; _hookline_wait; fi
}

if [[ $- != *i* ]]; then
  :
elif ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
  builtin printf 'hookline: bash %s is too old for hooks; 5.1 or newer is needed.\n' "$BASH_VERSION" >&2
elif builtin shopt -q restricted_shell; then
  builtin printf 'hookline: a restricted shell cannot ask hooks, so there are none in it.\n' >&2
elif [[ -n ${_hl_room-} ]]; then
  _hookline_restart
elif _hookline_there; then
  # In posix mode a function cannot have a hyphen in its name.
  if [[ -o posix ]]; then builtin alias hookline-restart=_hookline_restart; else eval 'hookline-restart() { _hookline_restart; }'; fi
  _hl_zero=([0]=/-/)
  _hl_gate='if { for _hl_n in; do :; done; } 2>/dev/null <"$_hl_idle${PWD//\//%}"; then for _hl_n in; do :; done
elif { for _hl_n in; do :; done; } 2>/dev/null <"${_hl_zero[$({ trap - DEBUG; } >/dev/null; _hookline_needs)+0]-/dev/null}"
then { _hookline_prompt "$?" "${PIPESTATUS[@]}" || :; builtin trap -p DEBUG 1<>"$_hl_room/trap"; _hookline_arm || :; } 9>&2 2>/dev/null; fi'
  PROMPT_COMMAND[99]=$_hl_gate
  _hookline_start exec
fi
if [[ -n $_hl_exports ]]; then builtin set -a; fi
