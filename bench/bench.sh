#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench.sh - heddle bench on a machine that has a GPU and nothing else.
#
#   bench.sh pack BUILD FOLDER           from a build with CUDA (configure --with-cuda-arch=90): the program, its libraries, this script
#   bench.sh run FOLDER OUT [PART ...]   there: each part is a table, OUT/PART.txt as it comes, OUT/PART.tsv and OUT/PART.json; 77: no GPU
#
# Parts: table (what goals.h has; of itself alone without words), variants (the same by every variant), batches (1 Ki to 16 Mi items), skewed
# (Zipf 0.99, with duplicates), capacities (16 Mi to 512 Mi). SECONDS_MOST limits each (150); REPEAT is its --repeat.
set -u

words() {
  case $1 in
  table) ;;
  variants) echo variant=all mode=queue ;;
  batches) echo find insert_or_assign assign dim=8 load=0.5,1 batch=1Ki,16Ki,64Ki,1Mi,16Mi ;;
  skewed) echo find contains assign insert_or_assign find_or_insert dim=8,64 load=0.5,1 keys=uniform,zipf:0.99 ;;
  capacities) echo find find_ptr insert_or_assign dim=8 load=0.5,1 capacity=16Mi,64Mi,128Mi,512Mi ;;
  *) return 1 ;;
  esac
}

run() {
  local folder=$1 out=$2 part code worst=0
  local -a word
  shift 2
  [ $# -gt 0 ] || set -- table
  mkdir -p "$out" && folder=$(cd "$folder" && pwd) || return
  export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" LC_ALL=C.UTF-8
  for part; do
    words "$part" >/dev/null || { echo "there is no part $part" >&2; return 2; }
    read -r -a word < <(words "$part")
    timeout -k 5 "${SECONDS_MOST:-150}" "$folder/heddle" bench --backend cuda "${word[@]}" ${REPEAT:+--repeat "$REPEAT"} \
      -o "$out/$part.tsv" -o "$out/$part.json" 2>"$out/$part.err" | tee "$out/$part.txt"
    code=${PIPESTATUS[0]}
    cat "$out/$part.err"
    [ "$code" = 0 ] || echo "$part: $([ "$code" = 124 ] && echo "out of time" || echo "exit $code")"
    [ "$code" -le "$worst" ] || worst=$code
  done
  return "$worst"
}

case ${1:-} in
pack)
  "$(dirname "$0")/../build-aux/carry.sh" "${3:?folder}" "${2:?build}/heddle" && cp "${BASH_SOURCE[0]}" "$3/" && du -sh "$3"
  ;;
run)
  shift
  run "${1:?folder}" "${2:?out}" "${@:3}"
  ;;
*) sed -n '4,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
