# SPDX-License-Identifier: Apache-2.0
#
# heddle.bash - completion for bash. Verbs, options and names are asked of the command itself, so that a new row completes
# at once; what a word stands for follows from the usage line of its verb.

# _heddle_names COMMAND KIND [WORD]: the names of a registry; with WORD, of the rows that have it.
_heddle_names() { "$1" list "$2" --csv 2>/dev/null | sed 1d | grep -e "${3:-}" | cut -d, -f2; }

# The last item of a list with commas, keeping what stands before it.
_heddle_item() { # CANDIDATES
  local done=${cur%"${cur##*,}"}
  mapfile -t COMPREPLY < <(compgen -P "$done" -W "$1" -- "${cur##*,}")
}

_heddle() {
  local heddle=${COMP_WORDS[0]} cur prev verb words cword
  # Not split at = and :, which stand inside of cases and specs.
  if declare -F _get_comp_words_by_ref >/dev/null; then _get_comp_words_by_ref -n =: cur prev words cword
  else words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  COMPREPLY=()

  # Files in front of the verb.
  while [ "${words[1]}" = --with ] && [ "$cword" -gt 1 ]; do
    if [ "$cword" = 2 ]; then compopt -o default; return; fi
    words=("${words[0]}" "${words[@]:3}") cword=$((cword - 2))
  done

  if [ "$cword" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$heddle" --help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p') help --with --help --version" -- "$cur")
    return
  fi
  verb=${words[1]}

  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$heddle" "$verb" --help 2>/dev/null | grep -oE '^ +(-., *)?--[a-z-]+=?' | grep -oE -- '--.*')" -- "$cur")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
    return
  fi

  # How many words that are no options stand before this one.
  local i at=0
  for ((i = 2; i < cword; i++)); do [[ ${words[i]} == -* ]] || at=$((at + 1)); done

  case $prev in
  --policies | -p) _heddle_item "$(_heddle_names "$heddle" policies; _heddle_names "$heddle" baselines)"; compopt -o nospace; return ;;
  --backend) mapfile -t COMPREPLY < <(compgen -W "$(_heddle_names "$heddle" backends)" -- "$cur"); return ;;
  --kernel) mapfile -t COMPREPLY < <(compgen -W "$(_heddle_names "$heddle" kernels | sort -u)" -- "$cur"); return ;;
  --by) mapfile -t COMPREPLY < <(compgen -W 'file record' -- "$cur"); return ;;
  --admit) mapfile -t COMPREPLY < <(compgen -W 'score always' -- "$cur"); return ;;
  --score) mapfile -t COMPREPLY < <(compgen -W 'next size time' -- "$cur"); return ;;
  --format | -f) mapfile -t COMPREPLY < <(compgen -W "$(_heddle_names "$heddle" formats written)" -- "$cur"); return ;;
  esac

  case $verb:$at in
  help:0) mapfile -t COMPREPLY < <(compgen -W "$("$heddle" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')" -- "$cur") ;;
  list:0) mapfile -t COMPREPLY < <(compgen -W "$("$heddle" list --csv 2>/dev/null | sed '1d; s/,.*//' | sort -u)" -- "$cur") ;;
  fuzz:0) mapfile -t COMPREPLY < <(compgen -W "$(_heddle_names "$heddle" targets)" -- "$cur") ;;
  new:0) mapfile -t COMPREPLY < <(compgen -W 'kernel policy predicate' -- "$cur") ;;
  museum:*) mapfile -t COMPREPLY < <(compgen -W "$("$heddle" museum --list --csv 2>/dev/null | sed '1d; s/,.*//' | sort -u)" -- "$cur") ;;
  puzzle:0) mapfile -t COMPREPLY < <(compgen -W "$("$heddle" puzzle --csv 2>/dev/null | sed 1d | cut -d, -f2)" -- "$cur") ;;
  trace:0) mapfile -t COMPREPLY < <(compgen -W 'stat convert print' -- "$cur") ;;
  trace:2 | sim:1 | sweep:1) mapfile -t COMPREPLY < <(compgen -W "$(_heddle_names "$heddle" formats read)" -- "$cur") ;;
  trace:4) mapfile -t COMPREPLY < <(compgen -W "$(_heddle_names "$heddle" formats written)" -- "$cur") ;;
  sim:2) _heddle_item "$(_heddle_names "$heddle" policies; _heddle_names "$heddle" baselines)"; compopt -o nospace ;;
  gen:0) mapfile -t COMPREPLY < <(compgen -S : -W "$(_heddle_names "$heddle" workloads)" -- "$cur"); compopt -o nospace ;;
  run:*)
    case $cur in
    policy=*) mapfile -t COMPREPLY < <(compgen -P policy= -W "$(_heddle_names "$heddle" policies)" -- "${cur#*=}") ;;
    lock=*) mapfile -t COMPREPLY < <(compgen -P lock= -W "$(_heddle_names "$heddle" locks)" -- "${cur#*=}") ;;
    admit=*) mapfile -t COMPREPLY < <(compgen -P admit= -W 'score always' -- "${cur#*=}") ;;
    keys=*) mapfile -t COMPREPLY < <(compgen -P keys= -S : -W "$(_heddle_names "$heddle" workloads)" -- "${cur#*=}"); compopt -o nospace ;;
    *)
      mapfile -t COMPREPLY < <(
        compgen -W 'policy= lock= buckets= capacity= slots= value= dual= admit= clock= table_seed= pins= threads= batch= keys= distinct= epoch_every= reserved= duplicate= extreme= seed= judge=' -- "$cur"
        compgen -P hkv. -S .ref -W "$(_heddle_names "$heddle" operations) mix serve" -- "${cur#hkv.}")
      [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
      ;;
    esac
    declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
    return ;;
  *) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames ;;
  esac
  declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
}

complete -F _heddle heddle
