# hookline in zsh. Evaluated in an interactive shell; see: hookline shell-init --help
#
# Enter, hooked keys, the prompt and every command of an entered line ask the process beside this shell. Fields are
# NUL-separated (src/hookline/shell/bash_zsh/wire.py); no process is started for a question. Subshells use the same pipes,
# so whoever asks must hold the token in the pipe _hl_token.

_hookline_start() {
  emulate -L zsh
  local place
  place=$(command mktemp -d) && command mkfifo -m 600 $place/asks $place/token $place/late || return 1
  exec {_hl_asks}<>$place/asks {_hl_token}<>$place/token {_hl_late}<>$place/late
  command rm -r -- $place
  exec {_hl_answers}< <(exec $_hl_program shell-init zsh --serve $$ --push $_hl_late <&$_hl_asks)
  print -rnu $_hl_token .
  _hl_held= _hl_off=
  typeset -gx HOOKLINE_SHELL=$$:$_hl_asks:$_hl_token:$_hl_late:$_hl_answers
  [[ ! -o zle ]] || zle -F $_hl_late _hookline_late
}

# End the process of an earlier "exec zsh" or restart, which would run as long as this shell. The pipes to it are still
# open, and the environment names them. $1 is the reason.
_hookline_leave() {
  emulate -L zsh
  local -a pipes=("${(@s/:/)HOOKLINE_SHELL-}")
  [[ $pipes[1] == $$ && $pipes[2] == <-> && -p /dev/fd/$pipes[2] ]] || return 0
  builtin printf '%s\0' bye 5 bye status 0 reason $1 >&$pipes[2]
  local pipe
  for pipe in $pipes[2,-1]; do [[ ! -p /dev/fd/$pipe ]] || exec {pipe}>&-; done
}

# Ask; the answer is in the array _hl_said. Fails without an answer in time.
_hookline_ask() {
  emulate -L zsh
  local id token
  _hl_said=()
  [[ -z $_hl_off ]] || return 1
  # sysread, because read -k and read -d take the terminal, which would stop a background job.
  if [[ -z $_hl_held ]] && ! sysread -i $_hl_token -s 1 -t $_hl_timeout token; then
    _hookline_lost 'no turn to ask'
    return 1
  fi
  _hl_held=1 id=${sysparams[pid]}.$((++_hl_number))
  builtin printf '%s\0' $id $# "$@" >&$_hl_asks
  _hookline_answered $_hl_answers $id
  local -i code=$?
  print -rnu $_hl_token .
  _hl_held=
  ((code == 0)) || _hookline_lost 'no answer'
  return code
}

# Read from descriptor $1 until the answer to question $2 arrives; older ones are dropped.
_hookline_answered() {
  local text= chunk
  local -a words
  while true; do
    words=("${(@0)text}")
    while (($#words > 2 && $#words > words[2] + 2)); do
      if [[ $words[1] == $2 ]]; then
        _hl_said=("${(@)words[3,words[2]+2]}")
        return 0
      fi
      shift $((words[2] + 2)) words
    done
    text=${(pj:\0:)words}
    sysread -i $1 -t $_hl_timeout chunk || return 1
    text+=$chunk
  done
}

# No failure is silent: it is reported once, and no line runs if a hook with on_failure = "deny" is configured.
_hookline_lost() {
  _hl_off=1
  _hookline_say "hookline: $1: hooks are off in this shell. Try: hookline-restart"
  [[ -z $_hl_strict ]] || _hookline_say 'hookline: a hook has on_failure = "deny", so nothing is run.'
}

# A message must not overwrite the line in the editor; if the line is about to run, the message waits.
_hookline_say() {
  [[ -n $1 ]] || return 0
  if [[ -n ${_hl_wait-} ]]; then
    _hl_note+=$1$'\n'
    return 0
  fi
  [[ -z ${WIDGET-} ]] || zle -I
  print -ru 2 -- $1
}

hookline-restart() {
  emulate -L zsh
  [[ -z ${_hl_late-} ]] || zle -F $_hl_late
  _hookline_leave restart
  _hookline_start && _hookline_hello
}

_hookline_hello() {
  emulate -L zsh
  _hookline_ask hello pid $$ tty "$TTY" cwd "$PWD" || return
  _hookline_say "$_hl_said[2]"
  if [[ $_hl_said[1] == drop ]]; then _hl_off=1; return 1; fi
  _hookline_wish "$_hl_said[3]" "$_hl_said[4]" "$_hl_said[5]" "$_hl_said[6]"
}

# ── lines ─────────────────────────────────────────────────────────────────────────────────────────────

# Replaces every widget that runs the line.
_hookline_accept() {
  emulate -L zsh
  local _hl_wait=1
  if [[ $_hl_keys == *$'\n'enter$'\n'* || $_hl_keys == '*' ]]; then
    _hookline_press enter || return 0
  fi
  local line=$BUFFER before=
  [[ $CONTEXT != cont ]] || before=$_hl_before
  _hl_asked=
  if ! _hookline_ask line text "$BUFFER" meant "$BUFFER" before "$before" cwd "$PWD"; then
    if [[ -n $_hl_strict && $BUFFER != hookline-restart ]]; then
      _hl_wait=
      _hookline_noted
      return 0
    fi
    zle ${_hl_own[$WIDGET]:-_hookline-own-accept-line} -w
    return 0
  fi
  case $_hl_said[1] in
    run)
      _hl_asked=1
      [[ $BUFFER == "$_hl_said[3]" ]] || { BUFFER=$_hl_said[3]; CURSOR=$#BUFFER }
      _hl_before=${before:+$before$'\n'}$BUFFER
      _hookline_say "$_hl_said[2]"
      zle ${_hl_own[$WIDGET]:-_hookline-own-accept-line} -w
      ;;
    stay)
      _hl_wait=
      _hookline_noted
      _hookline_say "$_hl_said[2]"
      [[ $BUFFER == "$_hl_said[3]" ]] || { BUFFER=$_hl_said[3]; CURSOR=$#BUFFER }
      zle .reset-prompt
      ;;
    *)
      # The line stays visible, as after Ctrl-C, and the reason appears above the next prompt.
      print -rs -- "${before:+$before$'\n'}$_hl_said[3]"
      _hl_refusal=$_hl_said[2]
      zle .send-break
      ;;
  esac
}

_hookline_noted() {
  local note=${_hl_note%$'\n'}
  _hl_note=
  _hookline_say "$note"
}

_hookline_preexec() {
  emulate -L zsh
  _hookline_noted
  _hl_running=1 _hl_ran=1 _hl_text=$1 _hl_began=$EPOCHREALTIME
  # History expansion changed the line.
  [[ -z $1 || ${1%$'\n'} == "$_hl_before" ]] || _hl_asked=
}

# Before each command of an entered line; if it fails, the trap sets err_exit, which makes zsh skip the command.
_hookline_debug() {
  [[ -n $_hl_running ]] || return 0
  emulate -L zsh
  case "$1 ${funcstack[2,-1]} " in (*' _hookline_'*|_hookline_*|hookline-restart*) return 0 ;; esac
  if [[ -z $_hl_asked ]]; then _hookline_judge past "${_hl_text:-$1}" || return 1; fi
  [[ $_hl_wanted == *process.pre_spawn* || -n $_hl_off ]] || return 0
  _hookline_judge spawn "$1"
}

# One answer per command and line: a loop asks once.
_hookline_judge() {
  emulate -L zsh
  local known="$1 $2"
  if [[ -z ${_hl_known[$known]-} ]]; then
    if _hookline_ask $1 text "$2" cwd "$PWD"; then
      _hookline_say "$_hl_said[2]"
      [[ $_hl_said[1] == run ]] && _hl_known[$known]=0 || _hl_known[$known]=1
    else
      [[ -z $_hl_strict ]] && _hl_known[$known]=0 || _hl_known[$known]=1
    fi
  fi
  return $_hl_known[$known]
}

# The first precmd function, so that it sees the status of the line.
_hookline_before_prompt() {
  _hl_status=$? _hl_statuses="${pipestatus[*]}"
  _hl_running=
}

# The last precmd function, so that it sees the final prompt.
_hookline_at_prompt() {
  local took=0 shown right
  local percent=${options[promptpercent]} bang=${options[promptbang]} subst=${options[promptsubst]}
  emulate -L zsh
  options+=(promptpercent $percent promptbang $bang promptsubst $subst)
  _hl_asked= _hl_known=()
  [[ ${precmd_functions[-1]} == _hookline_at_prompt ]] || precmd_functions=(${precmd_functions:#_hookline_at_prompt} _hookline_at_prompt)
  _hookline_noted
  _hookline_say "$_hl_refusal"
  _hl_refusal=
  [[ -z $_hl_began ]] || took=$(( (EPOCHREALTIME - _hl_began) * 1000 ))
  [[ $PROMPT == '${_hl_prompt}' || $PROMPT == "$_hl_prompt" ]] || _hl_own_prompt=$PROMPT
  [[ ${RPROMPT-} == '${_hl_right}' || ${RPROMPT-} == "$_hl_right" ]] || _hl_own_right=${RPROMPT-}
  if [[ $_hl_wanted == *prompt.render* ]]; then shown=$(print -rP -- $_hl_own_prompt) right=$(print -rP -- $_hl_own_right); fi
  if _hookline_ask prompt ran "$_hl_ran" text "$_hl_text" status $_hl_status statuses "$_hl_statuses" ms ${took%.*} \
    prompt "$shown" right "$right" cwd "$PWD" jobs ${#jobstates}; then
    _hookline_say "$_hl_said[1]"
    if [[ -n $_hl_said[2] && -z $shown ]]; then _hl_said[3]+=$_hl_own_prompt _hl_said[4]=$_hl_own_right; fi
    _hookline_draw "${(@)_hl_said[2,4]}"
    _hookline_wish "$_hl_said[5]" "$_hl_said[6]" "$_hl_said[7]" "$_hl_said[8]"
  fi
  _hl_text= _hl_ran= _hl_began=
}

# The prompt that hooks want, or the person's own. prompt_subst would expand its text, so then a variable is used.
_hookline_draw() {
  if [[ -z $1 ]]; then
    PROMPT=$_hl_own_prompt RPROMPT=$_hl_own_right
    return
  fi
  _hl_prompt=$2 _hl_right=$3
  if [[ -o prompt_subst ]]; then PROMPT='${_hl_prompt}' RPROMPT='${_hl_right}'
  else PROMPT=$_hl_prompt RPROMPT=$_hl_right; fi
}

# Draw a late prompt when it arrives.
_hookline_late() {
  local subst=${options[promptsubst]}
  emulate -L zsh
  options[promptsubst]=$subst
  local -a _hl_said
  _hookline_answered $1 push || return 0
  _hookline_draw "${(@)_hl_said}"
  zle .reset-prompt
}

_hookline_missing() {
  emulate -L zsh
  if ! _hookline_ask missing text "$*" cwd "$PWD"; then
    print -ru 2 -- "zsh: command not found: $1"
    return 127
  fi
  _hookline_say "$_hl_said[1]"
  return ${_hl_said[2]:-127}
}

# ── keys ──────────────────────────────────────────────────────────────────────────────────────────────

# Ask about one key; fails if the key must not do what it usually does.
_hookline_press() {
  _hookline_ask key key "$1" buffer "$BUFFER" cursor $CURSOR || return 0
  _hookline_say "$_hl_said[2]"
  case $_hl_said[1] in
    swallow) ;;
    set) BUFFER=$_hl_said[3] CURSOR=$_hl_said[4] ;;
    return) BUFFER=$_hl_said[3] CURSOR=$#BUFFER; zle accept-line ;;
    *) return 0 ;;
  esac
  return 1
}

_hookline_key() {
  emulate -L zsh
  local key=${_hl_named[$WIDGET]}
  # A character that is only hooked as a prefix counts only on an empty line.
  if [[ -z $BUFFER || $_hl_keys == '*' || $_hl_keys == *$'\n'$key$'\n'* ]]; then
    _hookline_press "$key" || return 0
  fi
  zle "${_hl_usual[$WIDGET]:-.self-insert}" -w
}

# The questions and keys that the current hooks want.
_hookline_wish() {
  emulate -L zsh
  local keys=$'\n'$2$'\n'
  [[ $2 != '*' ]] || keys='*'
  _hl_strict=$3 _hl_timeout=${4:-$_hl_timeout}
  [[ $1 != $_hl_wanted || $keys != $_hl_keys ]] || return 0
  _hl_wanted=$1 _hl_keys=$keys
  [[ ! -o zle ]] || _hookline_bind_keys
}

_hookline_bind_keys() {
  local key sequence
  local -i number
  for sequence in ${(k)_hl_bound}; do bindkey -- "$sequence" $_hl_bound[$sequence]; done
  _hl_bound=() _hl_named=() _hl_usual=()
  for key in ${(k)_hl_sequences}; do
    [[ $_hl_keys == '*' || $_hl_keys == *$'\n'$key$'\n'* ]] || continue
    for sequence in ${=_hl_sequences[$key]}; do _hookline_bind $key ${(g:ce:)sequence}; done
  done
  for ((number = 32; number < 127; number++)); do
    key=${(#)number}
    if [[ $_hl_keys == '*' || $_hl_keys == *$'\n'$key$'\n'* || $_hl_wanted == *input.prefix* ]]; then
      _hookline_bind "$key" "$key"
    fi
  done
}

_hookline_bind() {
  local name=_hookline-key-${#_hl_named} usual
  usual=${"$(bindkey -- "$2")"##* }
  [[ $usual != undefined-key ]] || usual=.beep
  _hl_named[$name]=$1 _hl_usual[$name]=$usual _hl_bound[$2]=$usual
  zle -N $name _hookline_key
  bindkey -- "$2" $name
}

# ── at load ───────────────────────────────────────────────────────────────────────────────────────────

_hookline_load() {
  emulate -L zsh
  zmodload zsh/system zsh/datetime zsh/parameter
  typeset -gA _hl_known=() _hl_bound=() _hl_named=() _hl_usual=() _hl_own=() _hl_sequences=(
    tab '^I' up '^[[A ^[OA' down '^[[B ^[OB' right '^[[C ^[OC' left '^[[D ^[OD'
    home '^[[H ^[OH ^[[1~' end '^[[F ^[OF ^[[4~' backspace '^? ^H' delete '^[[3~'
    shift+tab '^[[Z' ctrl+left '^[[1;5D' ctrl+right '^[[1;5C' escape '^['
  )
  local letter widget
  for letter in {a..g} k l {n..z}; do _hl_sequences[ctrl+$letter]="^${(U)letter}"; done
  typeset -ga _hl_said=()
  typeset -g _hl_number=0 _hl_running= _hl_asked= _hl_wanted= _hl_keys=$'\n\n' _hl_text= _hl_ran= _hl_began= _hl_prompt= _hl_refusal= \
    _hl_status=0 _hl_statuses= _hl_right= _hl_own_prompt=$PROMPT _hl_own_right=${RPROMPT-} _hl_before= _hl_note=
  _hookline_leave exec
  _hookline_start || { print -ru 2 'hookline: no pipes can be created here, so hooks are off.'; return 1 }
  _hookline_hello
  autoload -Uz add-zsh-hook
  add-zsh-hook preexec _hookline_preexec
  add-zsh-hook zshexit _hookline_bye
  typeset -ga precmd_functions=(_hookline_before_prompt $precmd_functions _hookline_at_prompt)
  command_not_found_handler() { _hookline_missing "$@" }
  [[ -o zle ]] || return 0
  for widget in accept-line accept-and-hold accept-line-and-down-history accept-and-infer-next-history; do
    _hl_own[$widget]=_hookline-own-$widget
    zle -A $widget _hookline-own-$widget
    zle -N $widget _hookline_accept
  done
}

_hookline_bye() {
  local code=$?
  emulate -L zsh
  ((ZSH_SUBSHELL == 0)) || return 0
  local reason=exit
  if [[ -z $_hl_running ]]; then [[ -t 0 ]] && reason=eof || reason=hangup; fi
  builtin printf '%s\0' bye 5 bye status $code reason $reason >&$_hl_asks
}

if [[ ! -o interactive ]]; then
  :
elif [[ -n ${_hl_asks-} ]]; then
  hookline-restart
else
  _hookline_load && trap '_hookline_debug "$ZSH_DEBUG_CMD" || setopt err_exit' DEBUG
fi
