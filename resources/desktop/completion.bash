# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of relascope and relascope-cli for bash: commands, options and their words as --help prints them, and names
# of experiments, models and options as `relascope-cli words` does. What was asked is kept for the shell.
declare -gA _relascope_asked

_relascope_ask() { # WORDS...: sets `answer`
  [[ -n ${_relascope_asked[$*]-} ]] || _relascope_asked[$*]=$(QT_QPA_PLATFORM=offscreen "$@" 2>/dev/null)
  answer=${_relascope_asked[$*]}
}

_relascope() { # PROGRAM, the word to complete, the word before
  local program=${1/#\~/$HOME} cur=$2 before=$3 answer commands help line i words= files=0
  local cli=${program%-cli}-cli command=
  COMPREPLY=()
  _relascope_ask "$cli" --help
  commands=$(sed -n '/^Subcommands:/,$ s/^  \([a-z]\+\) .*/\1/p' <<<"$answer")
  for ((i = 1; i < COMP_CWORD; i++)); do
    if grep -qxF -e "${COMP_WORDS[i]}" <<<"$commands"; then command=${COMP_WORDS[i]}; break; fi
  done
  if [[ -n $command ]]; then _relascope_ask "$cli" "$command" --help; else _relascope_ask "$program" --help; fi
  help=$answer
  line=$(grep -E -m1 -e "^  (-.,)? ?$before( |$)" <<<"$help")
  if [[ $before == --* && $line =~ \{([^}]*)\} ]]; then
    words=${BASH_REMATCH[1]//,/ }
  elif [[ $before == --* && $line =~ $before[[:space:]]([a-z_]+([,|][a-z_]+)+) ]]; then
    words=${BASH_REMATCH[1]//[,|]/ }
  elif [[ $before == --* && $line =~ $before[[:space:]](\<|[A-Z]+(:|[[:space:]])) ]]; then
    case $before in
      --set|--vary) _relascope_ask "$cli" words options; words=$answer;;
      --model|--models) _relascope_ask "$cli" words models; words=$answer;;
      --preset) _relascope_ask "$cli" words presets; words=$answer;;
      --device) words="auto cpu cuda:0";;
      --checkpoint) words="last best";;
      --split) words="train validation test pentos hexos stripes";;
      --family) words="pentos hexos stripes";;
      --metric) words="accuracy loss auto";;
      --clean|--corrupt) words="sample: text: tokens: image:";;
      --page) words="workbench compare study data checkpoint atlas duel";;
      --theme) words="dark light system";;
      --text|--prompt|--stop|--logit|--minus|--answer|--rendezvous|--shard|--seeds|--sizes|--tokens|--target) ;;
      *) [[ $line == *" INT"* || $line == *" FLOAT"* || $line == *"<n>"* ]] || files=1;;
    esac
  elif [[ $cur == -* ]]; then
    words=$(grep -oE -e '(^  |,|, )-[-a-z0-9]+' <<<"$help" | grep -oE -e '-.*')
  elif [[ -z $command ]]; then
    words=$commands
    [[ $program == *-cli ]] || files=1
  else
    files=1
    case $command in train|study|data) _relascope_ask "$cli" words presets; words=$answer;; esac
  fi
  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if ((files)); then
    mapfile -t words < <(compgen -f -- "$cur")
    [[ -z ${words[*]} ]] || compopt -o filenames
    COMPREPLY+=("${words[@]}")
  fi
  [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace
}
complete -F _relascope relascope relascope-cli
