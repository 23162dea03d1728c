# SPDX-License-Identifier: Apache-2.0
#
# heddle.bash - completion for bash: verbs, options and rows are asked of heddle itself, so that this file need not know them.
# shellcheck shell=bash disable=SC2207

_heddle_rows() { heddle list "$1" --csv 2>/dev/null | sed -n '2,$s/^[^,]*,\([^,]*\),.*/\1/p'; }

_heddle() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]:-} head='' words
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    words=$(heddle --help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
    COMPREPLY=($(compgen -W "$words --help --version" -- "$word"))
    return
  fi
  case $word in
  -*)
    words=$(heddle "$verb" --help 2>/dev/null | grep -oE '^ +(-[[:alnum:]?], )?--[a-z][a-z-]*' | grep -oE -- '--.*')
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
    ;;
  esac
  case $verb in
  help) words=$(heddle --help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p') ;;
  list) words="designs backends policies locks predicates kernels operations outcomes elements workloads formats" ;;
  run)
    # DESIGN.OP.KERNEL, then NAME=VALUE; bash hands over what stands after the = as a word of its own.
    case $before in
    =) before=${COMP_WORDS[COMP_CWORD - 2]} ;;
    esac
    [ "$word" = = ] && word=
    case $before in
    policy) words=$(_heddle_rows policies) ;;
    lock) words=$(_heddle_rows locks) ;;
    admit) words="score always" ;;
    keys) words=$(_heddle_rows workloads | sed 's/$/:/') ;;
    run) words=$(for op in serve mix $(_heddle_rows operations); do echo "hkv.$op.ref"; done) ;;
    *) words="policy= capacity= buckets= slots= value= dual=1 admit= batch= keys= seed= threads= lock=" ;;
    esac
    ;;
  sim)
    # TRACE FORMAT POLICIES SIZES: policies are a list with commas.
    case $COMP_CWORD in
    3) words=$(_heddle_rows formats) ;;
    4)
      [[ $word == *,* ]] && head=${word%,*},
      words=$(_heddle_rows policies | sed "s/^/$head/")
      ;;
    esac
    ;;
  gen | sweep) [ "$COMP_CWORD" = 2 ] && words=$(_heddle_rows workloads | sed 's/$/:/') ;;
  trace) [ "$COMP_CWORD" = 2 ] && words="stat convert print" ;;
  esac
  COMPREPLY=($(compgen -W "${words:-}" -- "$word") $([ -n "${words:-}" ] || compgen -f -- "$word"))
  [[ ${COMPREPLY[0]:-} != *[=:] ]] || compopt -o nospace 2>/dev/null
  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _heddle heddle
