#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench.sh - runs heddle bench on a machine with a GPU, but without compiler and libraries.
#
#   bench.sh pack BUILD FOLDER           here, from a build with CUDA (configure --with-cuda-arch=90): packs the program
#   bench.sh run FOLDER OUT [PART ...]   there: OUT/PART.txt, OUT/PART.tsv and OUT/PART.json for each part; 77: no GPU
#   bench.sh keep OUT GPU COMMIT         here: copies the tables to results/GPU*.tsv, and makes the page again
#
#   table               the goals of goals_hkv.c; the default part
#   variants            the same with every variant
#   batches             1 Ki to 16 Mi items
#   skewed              Zipf 0.99, with duplicates
#   capacities          16 Mi to 512 Mi
#   cliffs              every operation, policy, mode and pattern of keys
#   counters            one call of each point of table under ncu; skewed_counters: of skewed. 77: ncu is missing
#   hive                the goals of Hive; also hive_counters, hive_growth, hive_resize
#   for papers/hive     sizes, loads, hashes, hashes3; with the paper's mapping paper_sizes, paper_loads, paper_resize
#
# SECONDS_MOST is the limit of each part (150; cliffs and counters 240), REPEAT its --repeat, WORDS are additional
# arguments.
set -u

paper='design=hive slots=32 layout=masks spare=0 variant=wabc'
skewed='find contains assign insert_or_assign find_or_insert dim=8,64 load=0.5,1'
sizes='find insert_or_assign mixed bulk=256Ki,1Mi,4Mi,16Mi,32Mi load=0.95'
loads='find insert_or_assign hits=0 batch=256Ki capacity=32Mi load=0.5,0.55,0.65,0.75,0.85,0.9,0.95,0.97 mode=queue'
words() {
  case $1 in
  table) ;;
  variants) echo variant=all mode=queue ;;
  batches) echo find insert_or_assign assign dim=8 load=0.5,1 batch=1Ki,16Ki,64Ki,1Mi,16Mi ;;
  skewed) echo "$skewed" keys=uniform,zipf:0.99 ;;
  capacities) echo find find_ptr insert_or_assign dim=8 load=0.5,1 capacity=16Mi,64Mi,128Mi,512Mi ;;
  cliffs) echo cliffs ;;
  counters) echo mode=watch ;;
  skewed_counters) echo "$skewed" keys=zipf:0.99 mode=watch ;;
  hive) echo design=hive ;;
  hive_counters) echo design=hive insert_or_assign mixed hits=0,0.5 mode=watch ;;
  hive_growth) echo growth batch=1Mi,4Mi ;;
  hive_resize) echo growth capacity=64Mi split=0,32Ki ;;
  sizes) echo design=hive "$sizes" ;;
  loads) echo design=hive "$loads" ;;
  hashes) echo design=hive insert_or_assign hits=0 bulk=1Mi,4Mi,32Mi load=0.9 hashes=2 hash=mix64,bithash1+bithash2,crc32+crc64,city32+murmur3 ;;
  hashes3) echo design=hive insert_or_assign hits=0 bulk=1Mi,4Mi,32Mi load=0.9 hashes=3 hash=mix64,bithash1+bithash2+city32,crc32+crc64+murmur3 ;;
  paper_sizes) echo "$paper" "$sizes" ;;
  paper_loads) echo "$paper" "$loads" ;;
  paper_resize) echo growth slots=32 layout=masks capacity=1Mi split=0 ;;
  *) return 1 ;;
  esac
}

# The metrics that counters.py reads; few enough that ncu runs a kernel four or five times.
metrics=(
  gpu__time_duration.sum
  lts__t_sectors.sum lts__throughput.avg.pct_of_peak_sustained_elapsed
  dram__sectors_read.sum dram__sectors_write.sum dram__throughput.avg.pct_of_peak_sustained_elapsed
  l1tex__throughput.avg.pct_of_peak_sustained_active
  sm__inst_issued.avg.pct_of_peak_sustained_active sm__warps_active.avg.pct_of_peak_sustained_active
  smsp__inst_executed.sum smsp__thread_inst_executed_per_inst_executed.ratio
  smsp__average_warp_latency_per_inst_issued.ratio smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
)

# The program chooses the profiled calls. ncu profiles one kernel at a time, and leaves clocks and caches as they are.
profiler=(ncu --profile-from-start off --clock-control none --cache-control none --csv --page raw --print-units base)

run() {
  local folder=$1 out=$2 part code worst=0 most
  local -a word through
  shift 2
  [ $# -gt 0 ] || set -- table
  mkdir -p "$out" && folder=$(cd "$folder" && pwd) || return
  export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" LC_ALL=C.UTF-8
  for part; do
    words "$part" >/dev/null || { echo "there is no part $part" >&2; return 2; }
    read -r -a word < <(echo "$(words "$part")" "${WORDS:-}")
    most=${SECONDS_MOST:-150} through=()
    [ "$part" != cliffs ] || most=${SECONDS_MOST:-240}
    if [[ $part = *counters ]]; then
      most=${SECONDS_MOST:-240} through=("${profiler[@]}" --metrics "$(IFS=, && echo "${metrics[*]}")" --log-file "$out/$part.ncu.csv")
      command -v ncu >/dev/null || { echo "$part: there is no ncu here"; worst=77; continue; }
    fi
    timeout -k 5 "$most" "${through[@]}" "$folder/heddle" bench --backend cuda "${word[@]}" ${REPEAT:+--repeat "$REPEAT"} \
      -o "$out/$part.tsv" -o "$out/$part.json" 2>"$out/$part.err" | tee "$out/$part.txt"
    code=${PIPESTATUS[0]}
    cat "$out/$part.err"
    [ "$code" = 0 ] || echo "$part: $([ "$code" = 124 ] && echo "out of time" || echo "exit $code")"
    [ "$code" -le "$worst" ] || worst=$code
  done
  return "$worst"
}

reduced='a line per operation: items per second, share of the best of its row, marks (bench/cliffs.py --reduce)'
# keep OUT GPU COMMIT: a part without a result keeps its recorded file.
keep() {
  local out=$1 gpu=$2 commit=$3 part to here
  local -a counted=()
  here=$(cd "$(dirname "$0")" && pwd)
  for part in table batches skewed capacities hive hive_growth hive_resize; do
    to=$here/results/$gpu.$part.tsv
    [ "$part" != table ] || to=$here/results/$gpu.tsv
    [ ! -s "$out/$part.tsv" ] || { echo "# commit $commit; bench/bench.sh run FOLDER OUT $part" && cat "$out/$part.tsv"; } >"$to" || return
  done
  for part in sizes loads hashes hashes3 paper_sizes paper_loads paper_resize; do
    to=$here/../papers/hive/results/$gpu.$part.tsv
    [ ! -s "$out/$part.tsv" ] || { echo "# commit $commit; bench/bench.sh run FOLDER OUT $part" && cat "$out/$part.tsv"; } >"$to" || return
  done
  for part in counters skewed_counters; do
    [ ! -s "$out/$part.ncu.csv" ] || counted+=("$out/$part.tsv" "$out/$part.ncu.csv")
  done
  [ ${#counted[@]} = 0 ] ||
    "$here/counters.py" --head "commit $commit; bench/bench.sh run FOLDER OUT counters skewed_counters" "${counted[@]}" >"$here/results/$gpu.counters.tsv" || return
  part=hive_counters
  [ ! -s "$out/$part.ncu.csv" ] ||
    "$here/counters.py" --head "commit $commit; bench/bench.sh run FOLDER OUT $part" "$out/$part.tsv" "$out/$part.ncu.csv" >"$here/results/$gpu.$part.tsv" || return
  part=cliffs to=$here/results/$gpu.cliffs.tsv
  if [ -s "$out/$part.tsv" ]; then
    cp "$out/$part.tsv" "$out/$gpu.$part.tsv"
    { echo "# commit $commit; bench/bench.sh run FOLDER OUT $part; $reduced" && "$here/cliffs.py" --reduce --gpu "$gpu" --results "$out"; } >"$to" || return
  fi
  "$here/rows.py" --gpu "$gpu" && "$here/cliffs.py" --gpu "$gpu"
}

case ${1:-} in
pack)
  "$(dirname "$0")/../build-aux/carry.sh" "${3:?folder}" "${2:?build}/heddle" && cp "${BASH_SOURCE[0]}" "$3/" && du -sh "$3"
  ;;
run)
  shift
  run "${1:?folder}" "${2:?out}" "${@:3}"
  ;;
keep) keep "${2:?out}" "${3:?gpu}" "${4:?commit}" ;;
*) sed -n '4,21s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
