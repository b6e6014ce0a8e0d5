# hookline in zsh: what every shell evaluates. While nothing is hooked, only a change of directory runs a function: the
# process beside this shell reports everything else on a descriptor that the line editor watches. hookline.zsh is read
# when something is hooked.

_hookline_start() {
  builtin zmodload zsh/system
  _hl_clock='%D{%s%3.}'  # milliseconds; zsh/datetime would make a read-only variable of EPOCHREALTIME
  _hl_room=$_hl_home/$$-${(%)_hl_clock}
  [[ -z ${_hl_push-} ]] || { builtin zle -F $_hl_push 2>/dev/null; exec {_hl_push}<&-; }
  exec {_hl_push}< <(exec "${_hl_program[@]}" shell-init zsh --serve $$ --room $_hl_room --reason $1 </dev/null 2>/dev/null)
  _hookline_private
  [[ ! -o zle ]] || builtin zle -F $_hl_push _hookline_pushed
}

# Programs that are started must not inherit the descriptor.
_hookline_private() {
  local inherited=$_hl_push
  ! builtin sysopen -r -o cloexec -u _hl_push /dev/fd/$inherited 2>/dev/null || exec {inherited}<&-
}

_hookline_chpwd() {
  { builtin setopt localoptions no_xtrace no_err_exit no_unset } 2>/dev/null
  [[ -e $_hl_room/idle/${PWD//\//%} ]] || _hookline_check
}

# What the last process beside a shell knew of this directory, if none of the files that it read has changed since.
_hookline_cached() {
  builtin emulate -L zsh
  local file=$_hl_home/known/${PWD//\//%} line
  typeset -g _hl_cached=
  [[ -r $file ]] || return 1
  local -a lines=("${(@f)$(<$file)}")
  for line in "${(@)lines[2,-1]}"; do
    case $line in
      (+*) [[ -e ${line#+} && ! ${line#+} -nt $file ]] || return 1 ;;
      (-*) [[ ! -e ${line#-} ]] || return 1 ;;
    esac
  done
  _hl_cached=$lines[1]
}

# Read with zsh's own options and without aliases, whatever is set here.
_hookline_source() { builtin emulate -L zsh -o no_local_traps -o no_aliases; builtin source $_hl_script; }
_hookline_pushed() { if _hookline_source; then _hookline_pushed "$@"; else builtin zle -F $1; fi; }
_hookline_check() { _hookline_source && _hookline_check; }

# A shell whose hookline was uninstalled would wait for it at every prompt.
_hookline_there() {
  [[ ! -x ${_hl_program[@]:0:1} ]] || return 0
  builtin print -ru 2 -- "hookline: ${_hl_program[@]:0:1} is gone, so it cannot start hooks here. Install it again, or remove its line from ~/.zshrc."
  return 1
}

hookline-restart() {
  _hookline_there || return
  # The disk may be full where a helper did not start. Nobody else may have made the folder: its pipes would answer.
  if [[ -n ${_hl_off-} && ! -e $_hl_room/ready ]]; then
    local place=${TMPDIR:-/tmp}/hookline-$UID
    command mkdir -m 700 -- $place 2>/dev/null
    [[ ! -O $place || -L $place ]] || _hl_home=$place/shell
  fi
  # A file that is read again may have emptied the lists of hooks.
  (( ! $+functions[_hookline_ask] )) || { _hookline_close; [[ -z $_hl_wanted ]] || _hookline_place; }
  _hookline_start ${1:-restart}
  (( ! $+functions[_hookline_ask] )) || _hookline_check
}

_hookline_init() {
  builtin emulate -L zsh
  typeset -ga chpwd_functions=($chpwd_functions _hookline_chpwd)
  _hookline_start exec
  local -i tries=0
  local known=' keys '
  ! _hookline_cached || known=" ${_hl_cached%%$'\t'*} "
  if [[ $known == *' keys '* || $known == *' prefix '* || $known == *' prompt '* ]]; then
    # Nothing is known of this directory, as in the first shell ever, or the prompt depends on it: wait for the process.
    builtin zmodload zsh/zselect
    until [[ -e $_hl_room/idle/${PWD//\//%} || -e $_hl_room/ready ]] || ((tries++ > 150)); do builtin zselect -t 2; done
    [[ ! -e $_hl_room/idle/${PWD//\//%} ]] || return 0
    : ${_hl_cached:=line spawn$'\t'$_hl_strict}
  fi
  [[ -n $_hl_cached ]] || return 0
  _hookline_source
  if [[ -e $_hl_room/ready ]]; then _hookline_check; return; fi
  _hookline_want "${_hl_cached%%$'\t'*}" '' "${_hl_cached#*$'\t'}" ''
}

[[ ! -o all_export ]] || typeset +x -m '_hl_*'
if [[ ! -o interactive ]]; then
  :
elif [[ -n ${_hl_room-} ]]; then
  hookline-restart
elif _hookline_there; then
  _hookline_init
fi
