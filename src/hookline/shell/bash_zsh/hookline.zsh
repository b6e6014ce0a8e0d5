# hookline in zsh, while something is hooked: only what the hooked events need is installed. Fields of questions and
# answers are NUL-separated (serve.py); no process is started for a question. Subshells use the same pipes, so whoever
# asks must hold the token in the pipe _hl_token.

_hookline_open() {
  [[ -z $_hl_asks ]] || return 0
  local -i tries=0
  until [[ -e $_hl_room/ready ]] || ((tries++ > _hl_timeout * 50)); do builtin zselect -t 2; done
  [[ -e $_hl_room/ready ]] || return 1
  # Programs that are started must not inherit them.
  local name
  for name in asks token answers; do builtin sysopen -rw -o cloexec -u _hl_$name $_hl_room/$name || return 1; done
  _hl_service=$(<$_hl_room/ready) _hl_held= _hl_off=
}

_hookline_close() {
  local pipe
  [[ -z $_hl_asks ]] || for pipe in $_hl_asks $_hl_token $_hl_answers; do exec {pipe}>&-; done
  _hl_asks= _hl_held= _hl_off=
}

# Ask; the answer is in the array _hl_said. Fails without an answer in time.
_hookline_ask() {
  builtin emulate -L zsh -o no_local_traps
  local id token
  _hl_said=()
  [[ -z $_hl_off ]] || return 1
  _hookline_open || { _hookline_lost 'the helper process did not start'; return 1 }
  builtin kill -0 $_hl_service 2>/dev/null || { _hookline_lost 'no answer'; return 1 }
  builtin trap - INT  # until the end of this function: Ctrl-C ends the question
  # sysread, because read -k and read -d take the terminal, which would stop a background job.
  if [[ -z $_hl_held ]] && ! builtin sysread -i $_hl_token -s 1 -t $_hl_timeout token; then
    _hookline_lost 'no turn to ask'
    return 1
  fi
  [[ -z $_hl_held ]] || builtin kill -INT $_hl_service 2>/dev/null  # Ctrl-C ended the last question
  _hl_held=1 id=${sysparams[pid]}.$((++_hl_number))
  builtin printf '%s\0' $id $# "$@" >&$_hl_asks
  _hookline_answered $_hl_answers $id
  local -i code=$?
  builtin print -rnu $_hl_token .
  _hl_held=
  ((code == 0)) || _hookline_lost 'no answer'
  return code
}

# Read from descriptor $1 until the answer to question $2 arrives; older ones are dropped.
_hookline_answered() {
  local text= chunk
  local -a words
  local -i end=$((${(%)_hl_clock} + 1000 * _hl_timeout))  # signals end a sysread early
  while ((1)); do  # `true` may be a function
    words=("${(@0)text}")
    while (($#words > 2 && $#words > words[2] + 2)); do
      if [[ $words[1] == $2 ]]; then
        _hl_said=("${(@)words[3,words[2]+2]}")
        return 0
      fi
      builtin shift $((words[2] + 2)) words
    done
    text=${(pj:\0:)words}
    # A moment at a time (5: the end of the pipe): the pipe does not show that the process is gone.
    until builtin sysread -i $1 -t 0.5 chunk; do
      (($? != 5 && ${(%)_hl_clock} < end)) && { [[ ! -d /proc/self ]] || builtin kill -0 $_hl_service 2>/dev/null } || return 1
    done
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
  ! builtin zle || builtin zle -I
  builtin print -ru 2 -- $1
}

_hookline_noted() {
  local note=${_hl_note%$'\n'}
  _hl_note=
  _hookline_say "$note"
}

# ── lines ─────────────────────────────────────────────────────────────────────────────────────────────

# The line is complete, with its history and aliases expanded, and about to run. After an error of ours zsh would run it.
_hookline_preexec() {
  # What a refusal changed is restored already, unless a precmd function of theirs failed.
  { _hookline_restore; builtin setopt local_options no_xtrace } 2>/dev/null
  { _hookline_line "$@" } always { ((TRY_BLOCK_ERROR < 1)) || _hl_aborted=1 TRY_BLOCK_ERROR=0 }
}

# Their DEBUG trap is set again at the end of a function that is deeper than the one that set it.
_hookline_line() {
  builtin emulate -L zsh
  builtin trap - DEBUG
  _hookline_noted
  _hl_ran=1 _hl_text=${1:-$3} _hl_began=${(%)_hl_clock}
  [[ " $_hl_wanted " == *' line '* && ${_hl_text%$'\n'} != hookline-restart ]] || return 0
  _hookline_judge "${_hl_text%$'\n'}" "$3"
  [[ $3 != (|*[^[:alnum:]])(r|fc)(|[^[:alnum:]]*) ]] || _hookline_again $3
}

_hookline_judge() {
  local bodies= name how reason
  [[ " $_hl_wanted " != *' spawn '* ]] || _hookline_bodies $2
  if ! _hookline_ask run text "$1" meaning "$2" functions "$bodies" cwd "$PWD"; then
    [[ $1 == (exit|logout) ]] || _hl_aborted=$_hl_strict
    return 0
  fi
  _hookline_say "$_hl_said[2]"
  [[ $_hl_said[1] == run ]] || _hl_aborted=1
  for name how reason in "${(@)_hl_said[3,-1]}"; do _hookline_shadow $name $how $reason; done
}

# `r` and `fc` run lines of the history, and zsh calls no preexec function for them. What an editor does is not known.
_hookline_again() {
  local -a words=(${(z)1}) range changes
  local -i at
  local before=';' text
  for ((at = 1; at <= $#words; at++)); do
    ((at == 1)) || before=$words[at-1]
    [[ $words[at] == (r|fc) && $before == ([\;\&\|\(\{\!]*|then|do|else|builtin|noglob|*=*) ]] || continue
    (($+builtins[$words[at]] && ! $+functions[$words[at]])) || continue
    range=(${words[at + 1,-1]})
    range=(${range[1,${range[(i)[\;\&\|]*]} - 1]})
    [[ $range[1] != -*[AIPRWalp]* ]] || continue
    [[ $range[1] != -*e ]] || builtin shift 2 range
    range=(${(Q)range:#(-|-[^0-9]*)})
    changes=(${(M)range:#*=*}) range=(${range:#*=*})
    text=$(builtin fc -ln $changes ${range[1]:--1} ${range[2]:-${range[1]:--1}} 2>/dev/null) || continue
    text=${text//\\n/$'\n'}
    _hookline_judge $text $text
  done
}

# The functions that the words of a line may call.
_hookline_bodies() {
  local -A seen
  local -a words=(${(z)1}) more
  local word text
  while (($#words)); do
    more=()
    for word in ${(Qu)words}; do
      [[ -z ${seen[$word]-} && $word != _hookline_* ]] && (($+functions[$word])) || continue
      seen[$word]=1 text=$functions[$word]
      # One that is not loaded yet is read in a subshell, so that its file is not loaded earlier than without us.
      [[ $text != 'builtin autoload '* ]] ||
        text=$(builtin autoload +X -- $word 2>/dev/null; builtin print -rn -- "$functions[$word]")
      (($#bodies + $#text < 100000)) || continue
      bodies+="$word () {"$'\n'"$text"$'\n}\n'
      more+=(${(z)text})
    done
    words=($more)
  done
}

# The next preexec function. A DEBUG trap function that fails before a command ends the whole line with its status.
_hookline_verdict() {
  {
    [[ -z $_hl_aborted || -o debug_before_cmd ]] || { _hl_late=1; builtin setopt no_local_options debug_before_cmd; }
    _hookline_abort
  } 2>/dev/null
}

# Their own trap is set again before the next prompt. Other preexec functions come first.
_hookline_abort() {
  builtin emulate -L zsh
  builtin setopt no_local_traps no_xtrace  # -L would set local_traps after -o
  [[ -n $_hl_aborted ]] || return 0
  _hl_their_trap=
  if [[ -d $_hl_room ]]; then  # without a helper there is none
    builtin trap >|$_hl_room/trap
    _hl_their_trap=${(M)${(f)"$(<$_hl_room/trap)"}:#*DEBUG}
  fi
  (( ! $+functions[TRAPDEBUG] )) || _hl_their_trap="TRAPDEBUG() { $functions[TRAPDEBUG] }"
  TRAPDEBUG() { ((${#funcstack[@]} > 1)) || { builtin unfunction TRAPDEBUG; return 126; }; }
}

# For the rest of the line a function stands in for a refused command, so that the line goes on with 126. $1: its name;
# $2: "all", or "some" if only some of its calls are refused; $3: what to show.
_hookline_shadow() {
  (( ! $+_hl_shadows[$1] )) || return 0
  _hl_shadows[$1]=$2 _hl_reasons[$1]=$3 _hl_originals[$1]=${functions[$1]-}
  functions[$1]="_hookline_refuse ${(q)1} \"\$@\" || return \$?"
}

_hookline_refuse() {
  _hookline_allows "$@" || return 126
  "$@"
  _hookline_shadow_again $? $1
}

_hookline_allows() {
  { builtin emulate -L zsh -o no_local_traps -o no_xtrace } 2>/dev/null
  if [[ ${_hl_shadows[$1]-} == some ]] && _hookline_ask spawn text "${(j: :)${(@qq)@}}" cwd "$PWD" && [[ $_hl_said[1] == run ]]; then
    _hookline_unshadow $1
  else
    _hookline_say "${_hl_reasons[$1]-}"
    return 1
  fi
}

# The next call of it in this line is asked about too.
_hookline_shadow_again() {
  { builtin emulate -L zsh -o no_local_traps -o no_xtrace -o no_aliases } 2>/dev/null
  _hookline_shadow $2 some "${_hl_reasons[$2]-}"
  return $1
}

_hookline_unshadow() {
  builtin setopt local_options no_aliases
  local name
  for name in "$@"; do
    builtin unfunction -- $name 2>/dev/null
    [[ -z $_hl_originals[$name] ]] || functions[$name]=$_hl_originals[$name]
    builtin unset "_hl_shadows[$name]"
  done
}

# ── the prompt ────────────────────────────────────────────────────────────────────────────────────────

# The first precmd function.
_hookline_restore() {
  {
    [[ -z $_hl_late ]] || { _hl_late=; builtin setopt no_local_options no_debug_before_cmd; }
    _hookline_disarm
  } 2>/dev/null
}

_hookline_disarm() {
  builtin emulate -L zsh
  builtin setopt no_local_traps no_xtrace
  (( ! $#_hl_shadows )) || _hookline_unshadow ${(k)_hl_shadows}
  [[ -n $_hl_aborted ]] || return 0
  _hl_aborted=
  (( ! $+functions[TRAPDEBUG] )) || builtin unfunction TRAPDEBUG
  builtin eval $_hl_their_trap
}

# The last precmd function, so that it sees the final prompt.
_hookline_precmd() {
  { local code=$? statuses="${(j: :)pipestatus[@]}"; builtin setopt local_options no_xtrace } 2>/dev/null
  _hookline_prompt
}

_hookline_prompt() {
  local took=0 shown= right= percent=${options[promptpercent]} bang=${options[promptbang]} subst=${options[promptsubst]}
  builtin emulate -L zsh
  builtin trap - DEBUG
  options+=(promptpercent $percent promptbang $bang promptsubst $subst)
  [[ -z $_hl_wanted && $_hl_keys == $'\n\n' ]] || _hookline_place
  _hookline_noted
  [[ -z $_hl_began ]] || took=$(( ${(%)_hl_clock} - _hl_began ))
  if [[ -n $_hl_ran && -n $_hl_asks && -z $_hl_off && -e $_hl_room/same/${PWD//\//%} &&
    " $_hl_wanted " != *' '(after|prompt|say)' '* ]]; then  # nothing to wait for
    builtin printf '%s\0' 0 9 after text "${_hl_text%$'\n'}" status $code statuses "$statuses" cwd "$PWD" >&$_hl_asks
  elif [[ -e $_hl_room/ready || -n $_hl_ran || " $_hl_wanted " == *' prompt '* ]]; then _hookline_at_prompt; fi
  _hl_text= _hl_ran= _hl_began=
}

_hookline_at_prompt() {
  [[ $PROMPT == '${_hl_prompt}' || -n $_hl_prompt && $PROMPT == "$_hl_prompt" ]] || _hl_own_prompt=$PROMPT
  [[ ${RPS1-} == '${_hl_right}' || -n $_hl_prompt && ${RPS1-} == "$_hl_right" ]] || _hl_own_right=${RPS1-}
  if [[ " $_hl_wanted " == *' prompt '* ]]; then shown=$(builtin print -rP -- $_hl_own_prompt) right=$(builtin print -rP -- $_hl_own_right); fi
  _hookline_ask prompt ran "$_hl_ran" text "${_hl_text%$'\n'}" status $code statuses "$statuses" ms $took \
    prompt "$shown" right "$right" cwd "$PWD" jobs ${#jobstates} || return 0
  _hookline_say "$_hl_said[1]"
  if [[ -n $_hl_said[2] && -z $shown ]]; then _hl_said[3]+=$_hl_own_prompt _hl_said[4]=$_hl_own_right; fi
  _hookline_draw "${(@)_hl_said[2,4]}"
  _hookline_want "$_hl_said[5]" "$_hl_said[6]" "$_hl_said[7]" "$_hl_said[8]"
}

# The prompt that hooks want, or the person's own. prompt_subst would expand its text, so then a variable is used.
_hookline_draw() {
  if [[ -z $1 ]]; then
    [[ -z $_hl_prompt ]] || PROMPT=$_hl_own_prompt RPS1=$_hl_own_right
    _hl_prompt= _hl_right=
    return
  fi
  _hl_prompt=$2 _hl_right=$3
  if [[ -o prompt_subst ]]; then PROMPT='${_hl_prompt}' RPS1='${_hl_right}'
  else PROMPT=$_hl_prompt RPS1=$_hl_right; fi
}

# News of the process beside the shell: a late prompt to draw now, or that the configuration has changed.
_hookline_pushed() {
  { local subst=${options[promptsubst]} } 2>/dev/null
  { builtin emulate -L zsh -o no_local_traps -o no_xtrace } 2>/dev/null
  options[promptsubst]=$subst
  local -a _hl_said
  _hookline_answered $1 push || { builtin zle -F $1; return 0 }
  if [[ $_hl_said[1] == changed ]]; then _hookline_check; return 0; fi
  _hookline_draw "${(@)_hl_said}"
  builtin zle .reset-prompt
}

# What is hooked in this directory?
_hookline_check() {
  { builtin emulate -L zsh -o no_local_traps -o no_xtrace } 2>/dev/null
  [[ -e $_hl_room/ready ]] || return 0
  _hookline_ask needs cwd "$PWD" || return 0
  _hookline_want "${(@)_hl_said[2,5]}"
  [[ -n $_hl_wanted || $_hl_keys != $'\n\n' ]] || _hookline_close
}

# Install what the hooked events need, and remove what they do not. $1: needs; $2: keys; $3: strict; $4: seconds.
_hookline_want() {
  builtin emulate -L zsh -o no_local_traps
  local keys=$'\n'$2$'\n'
  [[ $2 != '*' ]] || keys='*'
  _hl_strict=$3 _hl_timeout=${4:-$_hl_timeout}
  [[ -z $1$2 ]] || _hookline_place
  [[ $1 != $_hl_wanted || $keys != $_hl_keys ]] || return 0
  [[ -n $1$2 ]] || _hookline_displace
  _hl_wanted=$1 _hl_keys=$keys
  typeset -ga zshexit_functions=(${zshexit_functions:#_hookline_*})
  [[ " $1 " != *' bye '* ]] || zshexit_functions+=(_hookline_bye)
  _hookline_missing_handler
  [[ ! -o zle ]] || _hookline_bind_keys
}

# Ours come first and last. A `preexec` function calls ours itself: if it failed, zsh would call no other.
_hookline_place() {
  builtin emulate -L zsh -o no_aliases
  local theirs=${functions[preexec]-}
  local -a before=(${preexec_functions:#_hookline_*}) after=(_hookline_restore ${precmd_functions:#_hookline_*} _hookline_precmd)
  if [[ -z $theirs ]]; then
    before=(_hookline_preexec _hookline_verdict $before)
  elif [[ $theirs != *_hookline_verdict* ]]; then
    functions[preexec]="_hookline_preexec \"\$@\"; _hookline_verdict"$'\n'$theirs
  fi
  [[ "$before" == "$preexec_functions" ]] || typeset -ga preexec_functions=($before)
  [[ "$after" == "$precmd_functions" ]] || typeset -ga precmd_functions=($after)
}

_hookline_displace() {
  local theirs=${functions[preexec]-}
  builtin setopt local_options no_aliases
  [[ $theirs != *_hookline_verdict* ]] || functions[preexec]=${theirs#*_hookline_verdict}
  typeset -ga preexec_functions=(${preexec_functions:#_hookline_*}) precmd_functions=(${precmd_functions:#_hookline_*})
}

# ── other events ──────────────────────────────────────────────────────────────────────────────────────

_hookline_missing_handler() {
  if [[ " $_hl_wanted " == *' missing '* && -z $_hl_handles ]]; then
    _hl_handles=1
    _hl_their_handler=${functions[command_not_found_handler]-}
    functions[_hookline_their_handler]=${_hl_their_handler:-:}
    functions[command_not_found_handler]='_hookline_missing "$@"'
  elif [[ " $_hl_wanted " != *' missing '* && -n $_hl_handles ]]; then
    _hl_handles=
    builtin unfunction command_not_found_handler
    [[ -z $_hl_their_handler ]] || functions[command_not_found_handler]=$_hl_their_handler
  fi
}

# A hook's message, or what the shell would have shown without one.
_hookline_missing() {
  # zsh runs this in a child, and a ZERR trap in both.
  if { builtin trap - ZERR; builtin emulate -L zsh -o no_local_traps -o no_xtrace } 2>/dev/null &&
    _hookline_ask missing text "${(j: :)@}" cwd "$PWD" && [[ -n $_hl_said[3] ]]; then
    [[ -z $_hl_said[1] ]] || builtin print -ru 2 -- $_hl_said[1]
    return ${_hl_said[2]:-127}
  fi
  if [[ -n $_hl_their_handler ]]; then
    _hookline_their_handler "$@"
  else
    local where=zsh
    (($#funcstack < 3)) || [[ $functrace[2] == '(eval)'* ]] || where=${functrace[2]%:0}
    builtin print -ru 2 -- "$where: command not found: $1"
    return 127
  fi
}

_hookline_bye() {
  local code=$?
  builtin emulate -L zsh -o no_local_traps
  # Not ZSH_SUBSHELL or $$: what zpty starts counts as a shell of its own.
  [[ ${_hl_room:t} == ${sysparams[pid]}-* ]] || return 0
  local reason=exit
  if [[ -z $_hl_ran ]]; then [[ -t 0 ]] && reason=eof || reason=hangup; fi
  [[ -z $_hl_asks ]] || builtin printf '%s\0' bye 5 bye status $code reason $reason >&$_hl_asks
}

# ── keys ──────────────────────────────────────────────────────────────────────────────────────────────

# Stands in for every widget that runs the line, while a hook wants to see or change it. A refused line still runs into
# _hookline_preexec.
_hookline_accept() {
  builtin emulate -L zsh
  local _hl_wait=1
  if [[ $_hl_keys == *$'\n'enter$'\n'* || $_hl_keys == '*' ]]; then
    _hookline_press enter || return 0
  fi
  if [[ " $_hl_wanted " == *' enter '* && $CONTEXT != cont ]] && _hookline_ask line text "$BUFFER" cwd "$PWD"; then
    if [[ $_hl_said[1] == stay ]]; then
      _hl_wait=
      _hookline_noted
      _hookline_say "$_hl_said[2]"
      [[ $BUFFER == "$_hl_said[3]" ]] || { BUFFER=$_hl_said[3]; CURSOR=$#BUFFER }
      builtin zle .reset-prompt
      return 0
    fi
    _hookline_say "$_hl_said[2]"
    [[ $BUFFER == "$_hl_said[3]" ]] || { BUFFER=$_hl_said[3]; CURSOR=$#BUFFER }
  fi
  builtin zle _hookline-own-$1 -w
}

# Ask about one key; fails if the key must not do what it usually does.
_hookline_press() {
  _hookline_ask key key "$1" buffer "$BUFFER" cursor $CURSOR || return 0
  _hookline_say "$_hl_said[2]"
  case $_hl_said[1] in
    swallow) ;;
    set) BUFFER=$_hl_said[3] CURSOR=$_hl_said[4] ;;
    return) BUFFER=$_hl_said[3] CURSOR=$#BUFFER; builtin zle accept-line -w ;;
    *) return 0 ;;
  esac
  return 1
}

_hookline_key() {
  builtin emulate -L zsh
  _hookline_press "${_hl_named[$WIDGET]}" || return 0
  builtin zle "${_hl_usual[$WIDGET]:-.beep}" -w
}

# A character. One that is only hooked as a prefix counts only on an empty line.
_hookline_self_insert() {
  builtin emulate -L zsh
  if [[ $_hl_keys == '*' || $_hl_keys == *$'\n'$KEYS$'\n'* ]] || [[ -z $BUFFER && " $_hl_wanted " == *' prefix '* ]]; then
    _hookline_press "$KEYS" || return 0
  fi
  builtin zle _hookline-own-self-insert -w
}

# Wrap a widget, or give it back: it keeps its name, because the search of the history knows self-insert by it.
_hookline_wrap() {
  if [[ -n $3 && -z ${_hl_own[$1]-} ]]; then
    _hl_own[$1]=1
    builtin zle -A $1 _hookline-own-$1
    builtin zle -N $1 $2
  elif [[ -z $3 && -n ${_hl_own[$1]-} && $widgets[$1] == user:$2 ]]; then
    builtin unset "_hl_own[$1]"
    builtin zle -A _hookline-own-$1 $1
  fi
}

_hookline_bind_keys() {
  local key sequence enter= insert=
  for sequence in ${(k)_hl_bound}; do builtin bindkey -- "$sequence" $_hl_bound[$sequence]; done
  _hl_bound=() _hl_named=() _hl_usual=()
  for key in ${(k)_hl_sequences}; do
    [[ $_hl_keys == '*' || $_hl_keys == *$'\n'$key$'\n'* ]] || continue
    for sequence in ${(s: :)_hl_sequences[$key]}; do _hookline_bind $key ${(g:ce:)sequence}; done
  done
  [[ " $_hl_wanted " != *' enter '* && $_hl_keys != *$'\n'enter$'\n'* && $_hl_keys != '*' ]] || enter=1
  [[ " $_hl_wanted " != *' prefix '* && $_hl_keys != *$'\n'?$'\n'* && $_hl_keys != '*' ]] || insert=1
  for key in accept-line accept-and-hold accept-line-and-down-history accept-and-infer-next-history; do
    functions[_hookline-$key]="_hookline_accept $key"  # $WIDGET may be one of theirs that calls it
    _hookline_wrap $key _hookline-$key $enter
  done
  _hookline_wrap self-insert _hookline_self_insert $insert
}

_hookline_bind() {
  local name=_hookline-key-${#_hl_named} usual
  usual=${"$(builtin bindkey -- "$2")"##* }
  [[ $usual != undefined-key ]] || usual=.beep
  _hl_named[$name]=$1 _hl_usual[$name]=$usual _hl_bound[$2]=$usual
  builtin zle -N $name _hookline_key
  builtin bindkey -- "$2" $name
}

_hookline_load() {
  builtin emulate -L zsh
  local letter
  builtin zmodload zsh/system zsh/parameter zsh/zselect
  typeset -gA _hl_bound=() _hl_named=() _hl_usual=() _hl_own=() _hl_shadows=() _hl_reasons=() _hl_originals=() _hl_sequences=(
    tab '^I' up '^[[A ^[OA' down '^[[B ^[OB' right '^[[C ^[OC' left '^[[D ^[OD'
    home '^[[H ^[OH ^[[1~' end '^[[F ^[OF ^[[4~' backspace '^? ^H' delete '^[[3~'
    shift+tab '^[[Z' ctrl+left '^[[1;5D' ctrl+right '^[[1;5C' escape '^['
  )
  for letter in {a..g} k l {n..z}; do _hl_sequences[ctrl+$letter]="^${(U)letter}"; done
  typeset -ga _hl_said=()
  typeset -g _hl_loaded=1 _hl_number=0 _hl_wanted= _hl_keys=$'\n\n' _hl_text= _hl_ran= _hl_began= _hl_prompt= _hl_right= \
    _hl_own_prompt=$PROMPT _hl_own_right=${RPS1-} _hl_note= _hl_asks= _hl_held= _hl_off= _hl_service=0 _hl_aborted= _hl_late= \
    _hl_their_trap= _hl_their_handler= _hl_handles=
}

[[ -n ${_hl_loaded-} ]] || _hookline_load
