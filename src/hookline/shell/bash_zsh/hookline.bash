# hookline in bash. Evaluated in an interactive shell; see: hookline shell-init --help
#
# Enter, hooked keys, the prompt and every simple command of an entered line ask the process beside this shell. Fields
# are NUL-separated (src/hookline/shell/bash_zsh/wire.py); no process is started for a question. Subshells use the same
# pipes, so whoever asks must hold the token in the pipe _hl_token.

_hookline_start() {
  local place
  place=$(builtin command mktemp -d) && builtin command mkfifo -m 600 "$place/asks" "$place/token" || return 1
  exec {_hl_asks}<>"$place/asks" {_hl_token}<>"$place/token"
  builtin command rm -r -- "$place"
  # Not a child of this shell: a plain "wait" would wait for it.
  exec {_hl_answers}< <( (exec "${_hl_program[@]}" shell-init bash --serve "$$" <&"$_hl_asks" &) )
  builtin printf . >&"$_hl_token"
  _hl_held= _hl_off=
  export HOOKLINE_SHELL=$$:$_hl_asks:$_hl_token:$_hl_answers
}

# End the process of an earlier "exec bash" or restart, which would run as long as this shell. The pipes to it are still
# open, and the environment names them. $1 is the reason.
_hookline_leave() {
  local rest=${HOOKLINE_SHELL-} pipe
  [[ $rest == "$$":+([0-9:]) ]] || return 0
  rest=${rest#*:}
  [[ -p /dev/fd/${rest%%:*} ]] || return 0
  builtin printf '%s\0' bye 5 bye status 0 reason "$1" >&"${rest%%:*}"
  while [[ -n $rest ]]; do
    pipe=${rest%%:*}
    [[ $rest == *:* ]] && rest=${rest#*:} || rest=
    [[ ! -p /dev/fd/$pipe ]] || exec {pipe}>&-
  done
}

# Ask; the answer is in the array _hl_said. Fails without an answer in time.
_hookline_ask() {
  local IFS= LC_ALL=C id count word
  _hl_said=()
  [[ -z $_hl_off ]] || return 1
  if [[ -z $_hl_held ]]; then
    builtin read -r -N 1 -t "$_hl_timeout" -u "$_hl_token" word || { _hookline_lost 'no turn to ask'; return 1; }
  fi
  _hl_held=1 id=$((++_hl_number))
  [[ $BASHPID == "$$" ]] || id=$BASHPID.$id  # short: bash reads an answer byte by byte
  builtin printf '%s\0' "$id" "$#" "$@" >&"$_hl_asks"
  while builtin read -r -d '' -t "$_hl_timeout" -u "$_hl_answers" word; do
    # The rest of an answer follows its first word at once; if the process ends, so does the pipe.
    builtin read -r -d '' -u "$_hl_answers" count || break
    _hl_said=()
    while ((count-- > 0)); do
      builtin read -r -d '' -u "$_hl_answers" "_hl_said[${#_hl_said[@]}]" || break 2
    done
    if [[ $word == "$id" ]]; then
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
  builtin printf 'hookline: %s: hooks are off in this shell. Try: hookline-restart\n' "$1" >&2
  [[ -z $_hl_strict ]] || builtin printf 'hookline: a hook has on_failure = "deny", so nothing is run.\n' >&2
}

# Called by an alias: in posix mode a function cannot have a hyphen in its name.
_hookline_restart() {
  _hookline_leave restart
  _hookline_start && _hookline_hello
}

_hookline_hello() {
  _hookline_ask hello pid "$$" tty "${_hl_tty-}" cwd "$PWD" || return
  [[ -z ${_hl_said[1]-} ]] || builtin printf '%s\n' "${_hl_said[1]}" >&2
  if [[ ${_hl_said[0]-} == drop ]]; then _hl_off=1; return 1; fi
  _hookline_wish "${_hl_said[2]-}" "${_hl_said[3]-}" "${_hl_said[4]-}" "${_hl_said[5]-}"
}

# ── lines ─────────────────────────────────────────────────────────────────────────────────────────────

# Before each simple command of an entered line; a denied command is skipped.
_hookline_debug() {
  [[ -n $_hl_running ]] || return 0
  _hl_trapped=1
  case "$BASH_COMMAND ${FUNCNAME[*]:1} " in *' _hookline_'* | _hookline_* | hookline-restart*) return 0 ;; esac
  if [[ -z $_hl_asked ]]; then  # the line did not pass Enter: another key, or no line editor
    _hookline_judge past "$BASH_COMMAND" || return 1
  fi
  [[ $_hl_wanted == *process.pre_spawn* || -n $_hl_off ]] || return 0
  case $BASH_COMMAND in 'for '* | 'select '* | 'case '* | '(('* | '[['*) return 0 ;; esac
  _hookline_judge spawn "$BASH_COMMAND"
}

# One answer per command and line: a loop asks once.
_hookline_judge() {
  # The text is never part of an arithmetic expression: older shells would run it.
  local known="$1 $2" refused=${_hl_known["$1 $2"]-}
  [[ -z $refused ]] || return "$refused"
  refused=1
  if _hookline_ask "$1" text "$2" cwd "$PWD"; then
    [[ -z ${_hl_said[1]-} ]] || builtin printf '%s\n' "${_hl_said[1]}" >&2
    [[ ${_hl_said[0]-} != run ]] || refused=0
  elif [[ -z $_hl_strict ]]; then
    refused=0
  fi
  _hl_known[$known]=$refused
  return "$refused"
}

# In a subshell. "history -p" removes the last line, which it takes for itself; after "-d" it does not.
_hookline_expanded() {
  builtin set +o history
  builtin history -s x && builtin history -d -1 && builtin history -p -- "$1" 2>/dev/null
}

_hookline_enter() {
  _hl_next=accept-line
  if [[ $_hl_keys == *$'\n'enter$'\n'* || $_hl_keys == '*' ]]; then
    _hookline_press enter || { _hookline_then; return; }
  fi
  local line=$READLINE_LINE meant=$READLINE_LINE whole signs=${histchars-!^}
  [[ -n $_hl_more ]] || _hl_before=
  _hl_asked= _hl_more=
  # The line after history expansion is what runs.
  if [[ -o histexpand && ($line == *"${signs:0:1}"* || $line == "${signs:1:1}"*) ]]; then
    meant=$(_hookline_expanded "$line") || meant=$line
  fi
  if ! _hookline_ask line text "$line" meant "$meant" before "$_hl_before" cwd "$PWD"; then
    [[ -z $_hl_strict || $READLINE_LINE == hookline-restart ]] || _hl_next=
    _hookline_then
    return
  fi
  # The editor has cleared the line by now, so a denied line is shown again above the reason.
  [[ ${_hl_said[0]-} == run ]] || builtin printf '%s%s\n' "${PS1@P}" "$line" >&2
  [[ -z ${_hl_said[1]-} ]] || builtin printf '%s\n' "${_hl_said[1]}" >&2
  case ${_hl_said[0]-} in
    run)
      _hl_asked=1
      [[ $line == "${_hl_said[2]-}" ]] || meant=${_hl_said[2]-}
      _hl_before=${_hl_before:+$_hl_before$'\n'}$meant
      ;;
    stay) _hl_next= ;;
    *)
      whole=${_hl_before:+$_hl_before$'\n'}${_hl_said[2]-}
      builtin history -s -- "$whole"
      _hl_said[2]= _hl_next=
      # Drop the lines before it too, as with Ctrl-C.
      [[ -z $_hl_before ]] || { _hl_before= READLINE_LINE= READLINE_POINT=0; builtin kill -INT "$$"; return; }
      ;;
  esac
  if [[ $line != "${_hl_said[2]-}" ]]; then
    READLINE_LINE=${_hl_said[2]-} READLINE_POINT=${#READLINE_LINE}
  fi
  _hl_text=$_hl_before
  _hookline_then
}

# Set the second half of a key's macro: a readline function, or nothing.
_hookline_then() {
  builtin bind "\"$_hl_do\": ${_hl_next:-\"\"}"
}

_hookline_before_prompt() {
  local status=$? statuses="${PIPESTATUS[*]}" ran=$_hl_running
  _hl_running= _hl_asked= _hl_before= _hl_more= _hl_known=()
  if [[ -n $ran && -z $_hl_trapped ]]; then
    builtin printf 'hookline: the DEBUG trap was replaced; it is set again.\n' >&2
    _hookline_trap DEBUG "$_hl_debug_before" "$_hl_debug_after"
  fi
  _hl_trapped= _hl_status=$status _hl_statuses=$statuses _hl_ran=$ran
  return "$status"
}

_hookline_at_prompt() {
  local took=0 shown
  local -a jobs_now
  if [[ -n $_hl_ran && -n $_hl_began ]]; then
    took=$(((${EPOCHREALTIME/[.,]/} - _hl_began) / 1000))
  fi
  [[ $PS1 == '${_hl_prompt}' ]] || _hl_own_prompt=$PS1
  [[ $PS0 == *_hl_running* ]] || PS0=$PS0$_hl_ps0
  [[ $PS2 == *_hl_more* ]] || PS2=$PS2$_hl_ps2
  shown=
  [[ $_hl_wanted != *prompt.render* ]] || shown=${_hl_own_prompt@P}
  if _hookline_ask prompt ran "$_hl_ran" text "$_hl_text" status "$_hl_status" statuses "$_hl_statuses" ms "$took" \
    prompt "$shown" right '' cwd "$PWD" jobs 0; then
    [[ -z ${_hl_said[0]-} ]] || builtin printf '%s\n' "${_hl_said[0]}" >&2
    if [[ -n ${_hl_said[1]-} ]]; then
      [[ -n $shown ]] || _hl_said[2]=${_hl_said[2]}${_hl_own_prompt@P}
      _hl_prompt=${_hl_said[2]} PS1='${_hl_prompt}'
    else
      PS1=$_hl_own_prompt
    fi
    _hookline_wish "${_hl_said[4]-}" "${_hl_said[5]-}" "${_hl_said[6]-}" "${_hl_said[7]-}"
  fi
  _hl_text= _hl_ran= _hl_began=
  return "$_hl_status"
}

_hookline_missing() {
  if ! _hookline_ask missing text "$*" cwd "$PWD"; then
    builtin printf 'bash: %s: command not found\n' "$1" >&2
    return 127
  fi
  [[ -z ${_hl_said[0]-} ]] || builtin printf '%s\n' "${_hl_said[0]}" >&2
  return "${_hl_said[1]:-127}"
}

# ── keys ──────────────────────────────────────────────────────────────────────────────────────────────

# Ask about one key; fails if the key must not do what it usually does.
_hookline_press() {
  _hookline_ask key key "$1" buffer "$READLINE_LINE" cursor "$READLINE_POINT" || return 0
  [[ -z ${_hl_said[1]-} ]] || builtin printf '%s\n' "${_hl_said[1]}" >&2
  case ${_hl_said[0]-} in
    swallow) _hl_next= ;;
    set) READLINE_LINE=${_hl_said[2]-} READLINE_POINT=${_hl_said[3]-0} _hl_next= ;;
    return) READLINE_LINE=${_hl_said[2]-} READLINE_POINT=${#READLINE_LINE} _hl_next=\"$_hl_enter\" ;;
    *) return 0 ;;
  esac
  return 1
}

_hookline_key() {
  local key=${_hl_named[$1]}
  _hl_next=${_hl_usual[$1]}
  # A character that is only hooked as a prefix counts only on an empty line.
  if [[ -z $READLINE_LINE || $_hl_keys == '*' || $_hl_keys == *$'\n'"$key"$'\n'* ]]; then
    _hookline_press "$key" || { _hookline_then; return; }
  fi
  if ((${#key} == 1)); then
    READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$key${READLINE_LINE:READLINE_POINT}
    ((++READLINE_POINT)) || :
    _hl_next=
  fi
  _hookline_then
}

# The questions and keys that the current hooks want.
_hookline_wish() {
  local keys=$'\n'$2$'\n'
  _hl_strict=$3 _hl_timeout=${4:-$_hl_timeout}
  [[ $2 != '*' ]] || keys='*'
  [[ $1 == "$_hl_wanted" && $keys == "$_hl_keys" ]] && return 0
  _hl_wanted=$1
  if [[ $keys != "$_hl_keys" || $1 == *input.prefix* ]]; then _hl_keys=$keys; _hookline_bind_keys; fi
}

# Whether keys can be hooked. On a terminal that cannot clear a line, the editor would repeat it for every hooked key.
_hookline_edits() { [[ (-o emacs || -o vi) && ${TERM:-dumb} != dumb ]]; }

_hookline_bind_keys() {
  local key sequence number old
  _hookline_edits || return 0
  for sequence in "${!_hl_bound[@]}"; do builtin bind "\"$sequence\": ${_hl_bound[$sequence]}" 2>/dev/null; done
  _hl_bound=() _hl_named=() _hl_usual=()
  for key in "${!_hl_sequences[@]}"; do
    [[ $_hl_keys == '*' || $_hl_keys == *$'\n'"$key"$'\n'* ]] || continue
    for sequence in ${_hl_sequences[$key]}; do _hookline_bind "$key" "$sequence"; done
  done
  _hookline_bind_characters
}

# Letters and digits are only bound if they are named: a prefix is punctuation.
_hookline_bind_characters() {
  local number key sequence
  for ((number = 32; number < 127; number++)); do
    builtin printf -v sequence '\\x%x' "$number"
    builtin printf -v key "$sequence"
    if [[ $_hl_keys == *$'\n'"$key"$'\n'* ]] || { [[ $_hl_wanted == *input.prefix* || $_hl_keys == '*' ]] &&
      [[ $key == [[:punct:]] ]]; }; then
      case $key in \\ | \") sequence=\\$key ;; *) sequence=$key ;; esac
      _hookline_bind "$key" "$sequence"
    fi
  done
}

_hookline_bind() {
  local number=${#_hl_named[@]} usual=self-insert call
  ((${#1} == 1)) || usual=$(_hookline_bound_to "$2")
  builtin printf -v call '%s%03d' "$_hl_call" "$number"
  _hl_named[number]=$1 _hl_usual[number]=$usual _hl_bound[$2]=${usual:-'""'}
  builtin bind -x "\"$call\": _hookline_key $number"
  builtin bind "\"$2\": \"$call$_hl_do\""
}

# The readline function or macro that is bound to a sequence now.
_hookline_bound_to() {
  local line
  while IFS= builtin read -r line; do
    [[ $line == "\"$1\": "* ]] && { builtin printf '%s' "${line#*: }"; return; }
  done < <({ builtin bind -p; builtin bind -s; } 2>/dev/null)  # it may report a closed pipe
}

# ── at load ───────────────────────────────────────────────────────────────────────────────────────────

_hookline_load() {
  declare -gA _hl_known=() _hl_bound=() _hl_sequences=(
    [tab]='\C-i' [up]='\e[A \eOA' [down]='\e[B \eOB' [right]='\e[C \eOC' [left]='\e[D \eOD'
    [home]='\e[H \eOH \e[1~' [end]='\e[F \eOF \e[4~' [backspace]='\C-? \C-h' [delete]='\e[3~'
    [shift+tab]='\e[Z' [ctrl+left]='\e[1;5D' [ctrl+right]='\e[1;5C'
  )
  local letter
  for letter in {a..g} k l {n..z}; do _hl_sequences[ctrl+$letter]="\\C-$letter"; done
  declare -ga _hl_said=() _hl_named=() _hl_usual=()
  _hl_number=0 _hl_running= _hl_asked= _hl_before= _hl_more= _hl_trapped= _hl_wanted= _hl_keys=$'\n\n' _hl_text= _hl_ran= _hl_began=
  _hl_call='\C-x\C-]k' _hl_do='\C-x\C-]d' _hl_enter='\C-x\C-]e' _hl_prompt= _hl_own_prompt=$PS1 _hl_next=
  _hl_nothing=x _hl_tty=$(builtin command tty 2>/dev/null)
  # Expanded in this shell just before a line runs: marks that, and prints nothing.
  _hl_ps0='${_hl_nothing:$((_hl_running=1,_hl_began=${EPOCHREALTIME/[.,]/},1))}'
  # The same for a continued line: the next Enter is not the first one.
  _hl_ps2='${_hl_nothing:$((_hl_more=1,1))}'
  _hookline_leave exec
  _hookline_start || { builtin printf 'hookline: no pipes can be created here, so hooks are off.\n' >&2; return 1; }
  _hookline_hello
  PS0=${PS0-}$_hl_ps0 PS2=${PS2-}$_hl_ps2
  if [[ $(builtin declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then
    PROMPT_COMMAND=(_hookline_before_prompt "${PROMPT_COMMAND[@]}" _hookline_at_prompt)
  else
    PROMPT_COMMAND="_hookline_before_prompt${PROMPT_COMMAND:+; $PROMPT_COMMAND}; _hookline_at_prompt"
  fi
  # An existing trap runs where it ran before we traced functions: outside of them, unless functrace was set.
  _hl_debug_before='if _hookline_debug; then if [[ -z ${FUNCNAME-} ]]; then :' _hl_debug_after='fi; :; else _hookline_no; fi'
  [[ ! -o functrace ]] || _hl_debug_before='if _hookline_debug; then if :; then :'
  builtin shopt -s extdebug
  builtin set -T
  _hookline_trap DEBUG "$_hl_debug_before" "$_hl_debug_after" "$_hl_their_debug"
  _hookline_trap EXIT _hookline_bye ''
  builtin alias hookline-restart=_hookline_restart
  command_not_found_handle() { _hookline_missing "$@"; }
  _hookline_edits || return 0
  local keymap
  for keymap in emacs vi-insert vi-command; do
    builtin bind -m "$keymap" -x "\"$_hl_call-e\": _hookline_enter"
    builtin bind -m "$keymap" "\"$_hl_enter\": \"$_hl_call-e$_hl_do\""
    builtin bind -m "$keymap" "\"\\C-m\": \"$_hl_enter\""
    builtin bind -m "$keymap" "\"\\C-j\": \"$_hl_enter\""
  done
}

# Set a trap around the existing one, which still runs, and whose status skips no command. $4: the existing trap, if a
# function cannot see it.
_hookline_trap() {
  local theirs=${4:-$(builtin trap -p "$1")}
  local -a words=()
  [[ -z $theirs ]] || builtin eval "words=(${theirs#trap })"
  [[ ${words[1]-} != *_hookline_* ]] || return 0
  [[ ${words[1]-} != - ]] || words=()
  builtin trap -- "$2${words[1]:+; ${words[1]}}${3:+; $3}" "$1"
}

_hookline_no() { return 1; }

_hookline_bye() {
  local status=$? reason=exit
  [[ $BASHPID == "$$" ]] || return
  if [[ -z $_hl_running ]]; then [[ -t 0 ]] && reason=eof || reason=hangup; fi
  builtin printf '%s\0' bye 5 bye status "$status" reason "$reason" >&"$_hl_asks" 2>/dev/null
}

if [[ $- != *i* ]]; then
  :
elif ((BASH_VERSINFO[0] < 5)); then
  builtin printf 'hookline: bash %s is too old for hooks; 5.0 or newer is needed.\n' "$BASH_VERSION" >&2
elif [[ -n ${_hl_asks-} ]]; then
  _hookline_restart
else
  _hl_their_debug=$(builtin trap -p DEBUG)
  _hookline_load
fi
