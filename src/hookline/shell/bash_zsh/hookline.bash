# hookline in bash, while something is hooked: only what the hooked events need is installed. Fields of questions and
# answers are NUL-separated (serve.py); no process is started for a question. Subshells use the same pipes, so whoever
# asks must hold the token in the pipe _hl_token. Locals begin with "_": none can be made of a name that the person has
# made read-only.

_hookline_wait() {
  local _tries=0
  until [[ -e $_hl_room/ready ]] || ((_tries++ > _hl_timeout * 30)); do : "$(builtin command sleep 0.02)"; done
  [[ -e $_hl_room/ready ]]
}

_hookline_open() {
  _hookline_wait || return 1
  builtin exec {_hl_asks}<>"$_hl_room/asks" {_hl_token}<>"$_hl_room/token" {_hl_answers}<>"$_hl_room/answers"
  IFS= builtin read -r _hl_service <"$_hl_room/ready"
  _hl_held= _hl_off=
}

_hookline_close() {
  local _pipe
  [[ -n $_hl_asks ]] || return 0
  for _pipe in "$_hl_asks" "$_hl_token" "$_hl_answers"; do builtin exec {_pipe}>&-; done
  _hl_asks= _hl_off= _hl_held=
}

# Take the token.
_hookline_turn() {
  [[ -z $_hl_off ]] || return 1
  [[ -z $_hl_held ]] || return 0
  [[ -n $_hl_asks ]] || _hookline_open || { _hookline_lost 'the helper process did not start'; return 1; }
  builtin kill -0 "$_hl_service" 2>/dev/null || { _hookline_lost 'no answer'; return 1; }
  builtin read -r -N 1 -t "$_hl_timeout" -u "$_hl_token" _hl_held || { _hookline_lost 'no turn to ask'; return 1; }
}

# Ask; the answer is in the array _hl_said. Fails without an answer in time.
_hookline_ask() {
  local IFS= _id _count _word _part _tries=0
  _hl_said=()
  _hookline_turn || return
  _id=$((++_hl_number))
  [[ $BASHPID == "$$" ]] || _id=$BASHPID.$_id  # short: bash reads an answer byte by byte
  builtin printf '%s\0' "$_id" "$#" "$@" >&"$_hl_asks"
  while :; do
    _word=
    # Half a second at a time: the pipe does not show that the process is gone.
    until builtin read -r -d '' -t 0.5 -u "$_hl_answers" _part; do
      _word+=$_part
      ((++_tries < 2 * _hl_timeout)) && builtin kill -0 "$_hl_service" 2>/dev/null || break 2
    done
    _word+=$_part
    # The rest of an answer follows its first word at once.
    builtin read -r -d '' -t "$_hl_timeout" -u "$_hl_answers" _count || break
    _hl_said=()
    while ((_count-- > 0)); do
      builtin read -r -d '' -t "$_hl_timeout" -u "$_hl_answers" "_hl_said[${#_hl_said[@]}]" || break 2
    done
    if [[ $_word == "$_id" ]]; then
      builtin printf . >&"$_hl_token"
      _hl_held=
      return 0
    fi
  done
  builtin printf . >&"$_hl_token"
  _hl_held=
  _hookline_lost 'no answer'
  return 1
}

# No failure is silent: it is reported once, and no line runs if a hook with on_failure = "deny" is configured.
_hookline_lost() {
  _hl_off=1
  _hookline_say "hookline: $1: hooks are off in this shell. Try: hookline-restart"
  [[ -z $_hl_strict ]] || _hookline_say 'hookline: a hook has on_failure = "deny", so nothing is run.'
}

_hookline_say() { [[ -z $1 ]] || builtin printf '%s\n' "$1" >&"$_hl_err"; }

# ── lines ─────────────────────────────────────────────────────────────────────────────────────────────

# From PS0, in a subshell: the line is in bash's history, and nothing of it has happened yet, not even a redirection of
# a compound command. Writes 1 or 5 to descriptor 8 if all of it may run, and 3 if there is no answer; otherwise the DEBUG
# trap asks again. For a refused line it writes 2, and 4 without an answer if that refuses: the rest of PS0 then fails,
# which ends the line without a signal.
_hookline_foresee() {
  builtin set +aeuxf
  local _text
  ((HISTCMD == _hl_history + 1)) && [[ -z $_hl_off || -n $_hl_strict ]] || return 0
  builtin trap '' QUIT
  builtin trap '[[ -z $_hl_held ]] || { builtin kill -INT "$_hl_service"; builtin printf . >&"$_hl_token"; }; exit 130' INT
  # The text is judged while its aliases and functions are looked up here.
  ! _hookline_turn || {
    builtin printf '%s\0' 0 7 ahead cwd "$PWD" line "$_hl_history" history
    HISTTIMEFORMAT='' builtin history 1
    builtin printf '\0'
  } >&"$_hl_asks"
  _hookline_history
  if ! _hookline_question "$_text" "$_hl_history"; then
    if [[ -z $_hl_strict || $_text == @(exit|logout|hookline-restart) ]]; then builtin printf 3 >&8; return; fi
    : >|"$_hl_room/reason"
    builtin printf 4 >&8
  elif [[ ${_hl_said[0]-} == run ]]; then
    _hookline_say "${_hl_said[1]-}"
    # Where a subshell is timed, "exit" in it loses the report once its DEBUG trap is removed.
    ((${#_hl_said[@]} > 2)) || case $_text in *time*\(*) builtin printf 5 ;; *) builtin printf 1 ;; esac >&8
  else
    builtin printf %s "${_hl_said[1]-}" >|"$_hl_room/reason" || _hookline_say "${_hl_said[1]-}"
    builtin printf 2 >&8
  fi
}

# The text of the error in PS0, over bash's own beginning of it.
_hookline_reason() {
  builtin set +aeux
  [[ ${TERM:-dumb} == dumb ]] || builtin printf '\r\e[K'
  builtin printf %s "$(<"$_hl_room/reason")"
}

# From the DEBUG trap, before the first simple command of a line, for what PS0 has not settled: commands to refuse, and
# a line that bash keeps out of its history or keeps there in pieces, which is judged command by command.
_hookline_line() {
  local _status=$? - _text _line=
  builtin set +aeuxf
  [[ -n $_hl_running && ${FUNCNAME[1]-} != _hookline_* && $BASH_COMMAND != @(hookline-restart|_hookline_*) &&
    $BASH_COMMAND != 'builtin trap -p DEBUG'*_hl_room/trap* ]] || return "$_status"
  if [[ -n $_hl_skip ]]; then return 1; fi
  if [[ $_hl_verdict == 6 ]]; then
    # What "fc" runs, for itself or for a key, is another line than the one that was asked about.
    [[ $BASH_COMMAND == fc* ]] && return "$_status"
    _text=$BASH_COMMAND
  elif ((HISTCMD > _hl_line)); then
    return "$_status"  # the line is over: this is a PROMPT_COMMAND
  elif ((HISTCMD == _hl_history)); then  # at the prompt it is the number of the next line
    _hl_keep=
    case $_hl_verdict in 1 | 5) return "$_status" ;; 3) _hl_off=1; return "$_status" ;; esac
    _hookline_history
    _line=$HISTCMD
  else
    _text=$BASH_COMMAND
    case $_text in 'for '* | 'select '* | 'case '* | '(('* | '[['*) return "$_status" ;; esac
  fi
  _hl_text=${_hl_text:-$_text}
  _hookline_judge "$_text" "$_line"
  return "$_status"
}

# The text of the line from the history.
_hookline_history() {
  local _output
  HISTTIMEFORMAT='' _hookline_output builtin history 1
  _text=${_output#"${_output%%[0-9]*}"} _text=${_text#*[* ] }
  _text=${_text%$'\n'}
}

# What a builtin prints, without a process if a file can be written: over what it held, up to a NUL, because to truncate
# it may take milliseconds.
_hookline_output() {
  { "$@" && builtin printf '\0'; } 1<>"$_hl_room/output" && IFS= builtin read -r -d '' _output <"$_hl_room/output" ||
    _output=$("$@")
}

# May this run? $1: its text; $2: its number in the history.
_hookline_question() {
  local _hl_functions= _hl_aliases=
  [[ " $_hl_wanted " != *' spawn '* ]] || _hookline_meanings "$1" >/dev/null
  _hookline_ask run text "$1" line "$2" functions "$_hl_functions" aliases "$_hl_aliases" cwd "$PWD"
}

_hookline_judge() {
  if ! _hookline_question "$1" "$2"; then
    [[ -z $_hl_strict || $1 == @(exit|logout) ]] || _hookline_abort ''
    return
  fi
  case ${_hl_said[0]-} in
    run) _hookline_say "${_hl_said[1]-}" ;;
    *) _hookline_abort "${_hl_said[1]-}" ;;
  esac
  # What a key runs is followed by no prompt that would remove what stands in for a refused command.
  if [[ $_hl_verdict == 6 && -n ${_hl_said[4]-} ]]; then _hookline_abort "${_hl_said[4]}"; return; fi
  local _number
  for ((_number = 2; _number + 2 < ${#_hl_said[@]}; _number += 3)); do
    _hookline_shadow "${_hl_said[@]:_number:3}"
  done
}

# The functions and aliases that the words of a line may call.
_hookline_meanings() {
  local -A _seen=()
  local -a _words
  local _word _output _text=$1 IFS=$' \t\n;|&(){}<>`$"\'\\='
  while [[ -n $_text ]]; do
    builtin set -f
    _words=($_text)
    _text=
    for _word in "${_words[@]}"; do
      [[ -n $_word && -z ${_seen[$_word]-} && $_word != *[[\]]* ]] || continue
      _seen[$_word]=1
      if [[ -n ${BASH_ALIASES[$_word]-} ]]; then
        _hl_aliases+=$_word=${BASH_ALIASES[$_word]}$'\n' _text+=" ${BASH_ALIASES[$_word]}"
      elif builtin declare -F -- "$_word" && [[ $_word != _hookline_* ]]; then
        _hookline_output builtin declare -f -- "$_word"
        ((${#_hl_functions} + ${#_output} < 100000)) || continue
        _hl_functions+=$_output _text+=" $_output"
      fi
    done
  done
}

# End the whole line. SIGINT is the one way that bash has; where it is ignored, every command is skipped.
_hookline_abort() {
  local _newline=$'\n'
  [[ $BASHPID == "$$" ]] && _newline=  # bash itself ends the line
  builtin printf '%s%s' "$1" "$_newline" >&"$_hl_err"
  [[ $BASHPID != "$$" ]] || _hl_running= _hl_aborted=1
  _hl_their_int=$(builtin trap -p INT)
  [[ -z $_hl_their_int ]] || builtin trap - INT
  builtin kill -INT "$BASHPID"
  _hl_skip=1 _hl_keep=1 _hl_running=1
  builtin shopt -s extdebug
}

# For the rest of the line a function stands in for a refused command, so that the line goes on with 126. $1: its name;
# $2: "all", or "some" if only some of its calls are refused; $3: what to show.
_hookline_shadow() {
  [[ $1 == +([A-Za-z0-9_./+:@%-]) && -z ${_hl_shadows[$1]-} ]] || return 0
  _hl_shadows[$1]=$2 _hl_reasons[$1]=$3 _hl_originals[$1]=$(builtin declare -f -- "$1")
  builtin eval "function $1 { { _hookline_refuse $1 \"\$@\"; } 9>&2 2>/dev/null; }"
}

_hookline_refuse() {
  local - _hl_words
  builtin set +aeux
  builtin printf -v _hl_words '%s ' "${@@Q}"
  if [[ ${_hl_shadows[$1]-} == some ]] && _hookline_ask spawn text "$_hl_words" cwd "$PWD" && [[ ${_hl_said[0]} == run ]]; then
    _hookline_unshadow "$1"
    "$@" 2>&9 9>&-
    _hookline_shadow_again "$?" "$1"
    return
  fi
  _hookline_say "${_hl_reasons[$1]-}"
  return 126
}

# The next call of it in this line is asked about too.
_hookline_shadow_again() {
  _hookline_shadow "$2" some "${_hl_reasons[$2]-}"
  return "$1"
}

_hookline_unshadow() {
  local _name
  for _name in "$@"; do
    builtin unset -f -- "$_name"
    [[ -z ${_hl_originals[$_name]} ]] || builtin eval "${_hl_originals[$_name]}"
    builtin unset "_hl_shadows[$_name]"
  done
}

# ── the prompt ────────────────────────────────────────────────────────────────────────────────────────

# In the last element of PROMPT_COMMAND, while something is hooked. $1: $?; then PIPESTATUS. Words are joined by printf,
# because "$*" joins them with the person's IFS.
_hookline_prompt() {
  local - _ran=$_hl_running$_hl_aborted _statuses
  builtin set +aeuxf
  builtin printf -v _statuses '%s ' "${@:2}"
  _hl_running= _hl_aborted=
  [[ -z ${!_hl_shadows[*]}$_hl_skip$_hl_their_int ]] || _hookline_reset
  [[ ! -s $_hl_room/trap ]] || : >|"$_hl_room/trap"
  [[ -z $_hl_held ]] || builtin kill -INT "$_hl_service" 2>/dev/null  # Ctrl-C while a hook was asked
  if [[ ! -e $_hl_room/ready && -z $_ran && " ${_hl_cached%%$'\t'*} " != *' '@(prompt|prefix|keys)' '* ]]; then  # it is still starting
    _hookline_want "${_hl_cached%%$'\t'*}" '' "${_hl_cached#*$'\t'}" ''
  elif [[ -n $_ran && -n $_hl_asks && -z $_hl_off && -e $_hl_room/same/${PWD//\//%} &&
    " $_hl_wanted " != *' '@(after|prompt|say)' '* ]]; then  # nothing to wait for
    builtin printf '%s\0' 0 9 after text "$_hl_text" status "$1" statuses "$_statuses" cwd "$PWD" >&"$_hl_asks"
  else
    _hookline_at_prompt "$1" "$_statuses" "$_ran"
  fi
  [[ $_hl_verdict != 4 ]] || _hl_off=1
  _hl_text= _hl_began= _hl_verdict= _hl_history=$HISTCMD
  _hookline_watch
  # A hooked Enter redraws the prompt's line from its start: output without a newline must not be on it.
  if [[ " $_hl_wanted " == *' enter '* ]] && _hookline_edits; then
    builtin printf '%*s\r\e[K' "$((${COLUMNS:-80} - 1))" '' >&"$_hl_err"
  fi
}

# Ours is the first part of PS0: where theirs fails to expand, bash expands no further. "declare", because an assignment
# to a read-only variable would end the function.
_hookline_watch() {
  local _ours=$_hl_ps0
  [[ " $_hl_wanted " == *' '@(line|after|bye)' '* ]] || return 0
  builtin shopt -q promptvars || _ours=
  [[ $PS0 == "$_hl_ps0"* && -n $_ours ]] || builtin declare -g PS0="$_ours${PS0//"$_hl_ps0"/}"
  if [[ $PS0 != "$_hl_ps0"* ]]; then
    # Nothing reports how many numbers a line takes: without cmdhist, PROMPT_COMMAND is judged too.
    _hl_running=1 _hl_line=$HISTCMD
    builtin shopt -q cmdhist || _hl_line=$((HISTCMD + 999))
  fi
}

_hookline_reset() {
  [[ -z ${!_hl_shadows[*]} ]] || _hookline_unshadow "${!_hl_shadows[@]}"
  [[ -z $_hl_skip ]] || builtin shopt -u extdebug
  [[ -z $_hl_their_int ]] || builtin eval "$_hl_their_int"
  _hl_skip= _hl_their_int=
}

_hookline_at_prompt() {
  local _took=0 _shown= _text
  if [[ -n $3 && -n $_hl_began ]]; then _took=$(((${EPOCHREALTIME/[.,]/} - _hl_began) / 1000)); fi
  if [[ -n $3 && -z $_hl_text && " $_hl_wanted " == *' after '* ]] && ((HISTCMD > _hl_history)); then
    _hookline_history
    _hl_text=$_text
  fi
  [[ $PS1 == '${_hl_prompt}' ]] || _hl_own_prompt=$PS1
  [[ " $_hl_wanted " != *' prompt '* ]] || _shown=${_hl_own_prompt@P}
  _hookline_ask prompt ran "$3" text "$_hl_text" status "$1" statuses "$2" ms "$_took" prompt "$_shown" right '' \
    cwd "$PWD" jobs 0 || return
  _hookline_say "${_hl_said[0]-}"
  if [[ -n ${_hl_said[1]-} ]]; then
    [[ -n $_shown ]] || _hl_said[2]=${_hl_said[2]}${_hl_own_prompt@P}
    _hl_prompt=${_hl_said[2]}
    builtin declare -g PS1='${_hl_prompt}'
  else
    builtin declare -g PS1="$_hl_own_prompt"
  fi
  _hookline_want "${_hl_said[4]-}" "${_hl_said[5]-}" "${_hl_said[6]-}" "${_hl_said[7]-}"
  # Only now is it known that a hook wants to see the prompt.
  if [[ -z $_shown && -n $_hl_own_prompt && " $_hl_wanted " == *' prompt '* ]]; then _hookline_at_prompt "$1" "$2" ''; fi
}

# The next line is watched. PS0, which bash expands before a line runs, says that one does, and prints nothing. While
# the trap is armed functions and subshells inherit it (functrace), because a line may begin with a subshell.
_hookline_arm() {
  local _theirs=
  [[ " $_hl_wanted " == *' line '* ]] || return 0
  [[ ! -s $_hl_room/trap ]] || IFS= builtin read -r -d '' _theirs <"$_hl_room/trap"
  if [[ $_theirs == *_hookline_line* ]]; then
    _theirs=$_hl_their_debug
  else
    _hl_their_debug=$_theirs _hl_trace=T
    [[ -o functrace ]] || _hl_trace=
  fi
  local -a _words=()
  [[ -z $_theirs ]] || builtin eval "_words=(${_theirs#trap })"
  _hl_armed=1
  # bash-preexec, when it installs itself, takes our next command for the person's first one.
  [[ -z ${__bp_imported-}${bash_preexec_imported-} ]] || __bp_preexec_interactive_mode=on
  builtin set -T
  if [[ -z ${_words[1]-} || ${_words[1]-} == - ]]; then
    builtin trap -- "$_hl_trap" DEBUG
  else
    # Their trap runs where it ran before: not in functions and subshells, and not for what is ours.
    builtin trap -- "${_hl_trap%%$'\n'*}
builtin declare -g _hl_last=\"\$_\" _hl_keep=1; _hookline_line || :; case \$_hl_keep\$_hl_trace in '') builtin set +T ;; esac; : \"\$_hl_last\"; } 2>/dev/null
case \$BASH_COMMAND in _hookline_* | 'builtin trap -- - '* | 'builtin trap -p DEBUG'*_hl_room/trap*) ;; *) case \$_hl_trace:\$BASHPID:\${FUNCNAME-} in *:*:_hookline_*) ;; :\$\$: | T:*)
${_words[1]}
;; esac ;; esac
_hookline_status \"\$?\" \"\$_hl_last\"" DEBUG
  fi
}

# The status of their trap counts under extdebug; $_ is the second argument afterwards.
_hookline_status() { return "$1"; }

_hookline_disarm() {
  [[ -n $_hl_armed ]] || return 0
  _hl_armed=
  if [[ -n $_hl_their_debug ]]; then builtin eval "$_hl_their_debug"; else builtin trap - DEBUG; fi
}

# Install what the hooked events need, and remove what they do not. $1: needs; $2: keys; $3: strict; $4: seconds.
_hookline_want() {
  local _keys=$'\n'$2$'\n' _now=" $1 "
  [[ $2 != '*' ]] || _keys='*'
  _hl_strict=$3 _hl_timeout=${4:-$_hl_timeout} _hl_wanted=$1 _hl_watch=1
  [[ $_now == *' line '* ]] || { _hl_watch=; _hookline_disarm; }
  [[ $_now == *' '@(line|after|bye)' '* || $PS0 != *"$_hl_ps0"* ]] || PS0=${PS0//"$_hl_ps0"/}
  if [[ $_keys$_now != "$_hl_bound_for" ]]; then _hl_keys=$_keys _hl_bound_for=$_keys$_now; _hookline_bind_keys; fi
  _hookline_missing_handler "$_now"
  [[ $_now != *' bye '* ]] || _hookline_exit_trap
  if [[ -z $1 && -z $2 ]]; then
    builtin declare -g "PROMPT_COMMAND[99]=$_hl_gate"
  else
    builtin declare -g "PROMPT_COMMAND[99]"='{ _hookline_prompt "$?" "${PIPESTATUS[@]}" || :; builtin trap -p DEBUG 1<>"$_hl_room/trap"; _hookline_arm || :; } 9>&2 2>/dev/null'
  fi
}

# ── other events ──────────────────────────────────────────────────────────────────────────────────────

_hookline_missing_handler() {
  if [[ $1 == *' missing '* && -z $_hl_handles ]]; then
    _hl_handles=1 _hl_their_handler=$(builtin declare -f command_not_found_handle)
    [[ -z $_hl_their_handler ]] || builtin eval "_hookline_their_${_hl_their_handler}"
    command_not_found_handle() {
      { _hookline_missing "$@"; case $_hl_code in ?*) return "$_hl_code" ;; esac; } 9>&2 2>/dev/null
      _hookline_their_command_not_found_handle "$@"
    }
  elif [[ $1 != *' missing '* && -n $_hl_handles ]]; then
    _hl_handles=
    builtin unset -f command_not_found_handle
    [[ -z $_hl_their_handler ]] || builtin eval "$_hl_their_handler"
  fi
}

# A hook's message, or what the shell would have shown without one. In a subshell; _hl_code is empty for their handler.
_hookline_missing() {
  local - _words
  builtin set +aeux
  _hl_code=
  builtin printf -v _words '%s ' "$@"
  if _hookline_ask missing text "${_words% }" cwd "$PWD" && [[ -n ${_hl_said[2]-} ]]; then
    _hl_code=${_hl_said[1]:-127}
    [[ -z ${_hl_said[0]-} ]] || builtin printf '%s\n' "${_hl_said[0]}" >&9
  elif [[ -z $_hl_their_handler ]]; then
    _hl_code=127
    builtin printf '%s: %s: command not found\n' "${0#-}" "$1" >&9
  fi
}

_hookline_exit_trap() {
  local _output
  local -a _words=()
  _hookline_output builtin trap -p EXIT
  [[ $_output != *_hookline_bye* ]] || return 0
  [[ -z $_output ]] || builtin eval "_words=(${_output#trap })"
  builtin trap -- "_hookline_bye \"\${_-}\"${_words[1]:+; ${_words[1]}}" EXIT
}

_hookline_bye() {
  local _status=$? _reason=exit
  [[ $BASHPID == "$$" ]] || return "$_status"
  if [[ -z $_hl_running ]]; then [[ -t 0 ]] && _reason=eof || _reason=hangup; fi
  [[ -z $_hl_asks ]] || builtin printf '%s\0' bye 5 bye status "$_status" reason "$_reason" >&"$_hl_asks" 2>/dev/null
  _hl_off=1  # the helper ends, so the rest of the trap does not ask
  return "$_status"
}

# ── keys ──────────────────────────────────────────────────────────────────────────────────────────────

# Enter, while a hook wants to see or change the line before it is read. A refused line still runs into the DEBUG trap.
_hookline_enter() {
  local -
  builtin set +aeux
  _hl_next=accept-line
  if [[ $_hl_keys == *$'\n'enter$'\n'* || $_hl_keys == '*' ]]; then
    _hookline_press enter || { _hookline_then; return; }
  fi
  local _line=$READLINE_LINE
  if [[ " $_hl_wanted " == *' enter '* ]] && _hookline_ask line text "$_line" cwd "$PWD"; then
    if [[ ${_hl_said[0]-} == stay ]]; then
      # The editor has cleared the line by now, so it is shown again above the reason.
      builtin printf '%s%s\n' "${PS1@P}" "$_line" >&"$_hl_err"
      _hl_next=
    fi
    _hookline_say "${_hl_said[1]-}"
    [[ $_line == "${_hl_said[2]-}" ]] || { READLINE_LINE=${_hl_said[2]-} READLINE_POINT=${#READLINE_LINE}; }
  fi
  _hookline_then
}

# Set the second half of a key's macro: a readline function, or nothing. Under "set -a" the call has exported _hl_gate.
_hookline_then() { builtin export -nf _hl_gate; builtin bind "\"$_hl_do\": ${_hl_next:-\"\"}"; }

# Ask about one key; fails if the key must not do what it usually does.
_hookline_press() {
  _hookline_ask key key "$1" buffer "$READLINE_LINE" cursor "$READLINE_POINT" || return 0
  _hookline_say "${_hl_said[1]-}"
  case ${_hl_said[0]-} in
    swallow) _hl_next= ;;
    set) READLINE_LINE=${_hl_said[2]-} READLINE_POINT=${_hl_said[3]-0} _hl_next= ;;
    return) READLINE_LINE=${_hl_said[2]-} READLINE_POINT=${#READLINE_LINE} _hl_next=\"$_hl_return\" ;;
    *) return 0 ;;
  esac
  return 1
}

_hookline_key() {
  local - _key=${_hl_named[$1]}
  builtin set +aeux
  _hl_next=${_hl_usual[$1]}
  # A character that is only hooked as a prefix counts only on an empty line.
  if [[ -z $READLINE_LINE || $_hl_keys == '*' || $_hl_keys == *$'\n'"$_key"$'\n'* ]]; then
    _hookline_press "$_key" || { _hookline_then; return; }
  fi
  if ((${#_key} == 1)); then
    READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$_key${READLINE_LINE:READLINE_POINT}
    ((++READLINE_POINT)) || :
    _hl_next=
  fi
  _hookline_then
}

# Whether keys can be hooked. On a terminal that cannot clear a line, the editor would repeat it for every hooked key.
_hookline_edits() { [[ (-o emacs || -o vi) && ${TERM:-dumb} != dumb ]]; }

_hookline_bind_keys() {
  local _key _sequence _keymap IFS=' '
  _hookline_edits || return 0
  for _sequence in "${!_hl_bound[@]}"; do builtin bind "\"$_sequence\": ${_hl_bound[$_sequence]}" 2>/dev/null; done
  _hl_bound=() _hl_named=() _hl_usual=()
  for _key in "${!_hl_sequences[@]}"; do
    [[ $_hl_keys == '*' || $_hl_keys == *$'\n'"$_key"$'\n'* ]] || continue
    for _sequence in ${_hl_sequences[$_key]}; do _hookline_bind "$_key" "$_sequence"; done
  done
  while IFS= builtin read -r _key; do [[ $_key != [^\ -~] ]] || _hookline_bind "$_key" "$_key"; done <<<"$_hl_keys"
  _hookline_bind_characters
  if [[ " $_hl_wanted " == *' enter '* || $_hl_keys == *$'\n'enter$'\n'* || $_hl_keys == '*' ]]; then
    for _keymap in emacs vi-insert vi-command; do
      _hookline_bind_call "$_hl_call-e" _hookline_enter -m "$_keymap"
      builtin bind -m "$_keymap" "\"$_hl_return\": \"$_hl_call-e$_hl_do\""
      for _sequence in '\C-m' '\C-j'; do builtin bind -m "$_keymap" "\"$_sequence\": \"$_hl_return\""; done
    done
    _hl_bound['\C-m']=accept-line _hl_bound['\C-j']=accept-line
  elif ((${#_hl_named[@]})); then
    builtin bind "\"$_hl_return\": accept-line"
  fi
}

# Letters and digits are only bound if they are named: a prefix is punctuation.
_hookline_bind_characters() {
  local _number _key _sequence
  for ((_number = 32; _number < 127; _number++)); do
    builtin printf -v _sequence '\\x%x' "$_number"
    builtin printf -v _key "$_sequence"
    if [[ $_hl_keys == *$'\n'"$_key"$'\n'* ]] || { [[ " $_hl_wanted " == *' prefix '* || $_hl_keys == '*' ]] &&
      [[ $_key == [[:punct:]] ]]; }; then
      case $_key in \\ | \") _sequence=\\$_key ;; *) _sequence=$_key ;; esac
      _hookline_bind "$_key" "$_sequence"
    fi
  done
}

_hookline_bind() {
  local _number=${#_hl_named[@]} _usual=self-insert _call
  ((${#1} == 1)) || _usual=$(_hookline_bound_to "$2")
  builtin printf -v _call '%s%03d' "$_hl_call" "$_number"
  _hl_named[_number]=$1 _hl_usual[_number]=$_usual _hl_bound[$2]=${_usual:-'""'}
  _hookline_bind_call "$_call" "_hookline_key $_number"
  builtin bind "\"$2\": \"$_call$_hl_do\""
}

# Call $2 for the sequence $1. In the middle of a quote or a here-document bash takes "{" for a reserved word only after a
# newline, and in the middle of a "case" only after a ")". Jobs that have ended are reported here, before the call: their
# report must not be lost with the trace. The last argument is $_ afterwards.
_hookline_bind_call() {
  builtin bind "${@:3}" -x "\"$1\": "$'\n'"_hl_gate() { :; }"$'\n'"{ $2 \"\${_-}\" 2>/dev/null; } 2>&\"\${_hl_sink[_\${-//[!x]}]}\""
}

# The readline function or macro that is bound to a sequence now. In the locale C readline writes \M-x for \ex.
_hookline_bound_to() {
  local _line
  while IFS= builtin read -r _line; do
    [[ ${_line/#'"\M-'/'"\e'} == "\"$1\": "* ]] && { builtin printf '%s' "${_line#*: }"; return; }
  done < <({ builtin bind -p; builtin bind -s; } 2>/dev/null)  # it may report a closed pipe
}

_hookline_load() {
  declare -gA _hl_bound=() _hl_shadows=() _hl_reasons=() _hl_originals=() _hl_sequences=(
    [tab]='\C-i' [up]='\e[A \eOA' [down]='\e[B \eOB' [right]='\e[C \eOC' [left]='\e[D \eOD'
    [home]='\e[H \eOH \e[1~' [end]='\e[F \eOF \e[4~' [backspace]='\C-? \C-h' [delete]='\e[3~'
    [shift+tab]='\e[Z' [ctrl+left]='\e[1;5D' [ctrl+right]='\e[1;5C'
  )
  local _letter
  for _letter in {a..g} k l {n..z}; do _hl_sequences[ctrl+$_letter]="\\C-$_letter"; done
  declare -ga _hl_said=() _hl_named=() _hl_usual=()
  _hl_number=0 _hl_running= _hl_wanted= _hl_keys=$'\n\n' _hl_text= _hl_began= _hl_asks= _hl_held= _hl_off= _hl_skip=
  _hl_aborted= _hl_their_int= _hl_their_debug= _hl_their_handler= _hl_handles= _hl_armed= _hl_keep=1 _hl_last= _hl_service=0
  _hl_bound_for=$'\n\n''  ' _hl_history=$HISTCMD
  _hl_call='\C-x\C-]k' _hl_do='\C-x\C-]d' _hl_return='\C-x\C-]e' _hl_prompt= _hl_own_prompt=$PS1 _hl_next= _hl_n=x
  _hl_verdict= _hl_watch= _hl_refused=([2]=1 [4]=1)
  _hl_ps0='${_hl_foresee@P}'
  # Backquotes: while bash parses "$(", a CHLD trap may run, which breaks the parser.
  _hl_foresee='${_hl_n:$((_hl_running=1,_hl_line=HISTCMD-!!HISTCMD,_hl_began=${EPOCHREALTIME/[.,]/}+0,_hl_verdict=${_hl_watch:+`{ builtin trap -- - DEBUG RETURN ERR; _hookline_foresee; } 8>&1 >/dev/null 2>&1`}+0,1))}${_hl_refused[_hl_verdict]+${_hookline?"`{ builtin trap -- - DEBUG RETURN ERR; _hookline_reason; } 2>/dev/null`"}}'
  # No "[[", no "((" and no assignment in a trap: after an error in a condition, and while the words of an array are typed,
  # bash reads them as something else.
  _hl_trap='{ case $BASH_COMMAND in fc | "fc -"[es0-9]* | "fc "[!-]*) builtin declare -g _hl_last="$_" _hl_verdict=6 _hl_running=1; : "$_hl_last" ;; esac
case $_hl_verdict$_hl_running in ?*) builtin declare -g _hl_last="$_" _hl_keep=1; case $_hl_verdict:$_hl_running in 1:*) builtin declare -g _hl_keep= ;; 5:*) case $BASHPID in $$) builtin declare -g _hl_keep= ;; *) builtin declare -g _hl_verdict= _hl_running= ;; esac ;; *:?*) _hookline_line || : ;; esac; case $BASH_COMMAND in trap*) case $BASHPID in $$) ;; *) builtin declare -g _hl_keep=1 ;; esac ;; esac; case $_hl_keep in "") builtin trap - DEBUG; case $_hl_trace in "") builtin set +T ;; esac ;; esac; case $- in *a*) builtin export -n "${!_hl_@}" ;; esac; : "$_hl_last" ;; esac; } 2>/dev/null'
  builtin exec {_hl_err}>&9 {_hl_null}>/dev/null
  declare -gA _hl_sink=([_]=2 [_x]=$_hl_null)
  _hookline_cached || _hl_cached="line spawn"$'\t'$_hl_strict  # unknown: the first line asks
}
