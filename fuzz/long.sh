#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# long.sh BUILD MINUTES [JOBS] - runs libFuzzer on every target for MINUTES, JOBS at a time (default: all), and prints a
# table of the results. Exit code 1 if it found something; it lists the files.
#
#     ../configure CC=clang CFLAGS='-g -O1' --enable-fuzzers --enable-sanitize=address,undefined --with-cuda=no \
#       --disable-shared --enable-static
#     ../fuzz/long.sh . 30
#
# $OUT (default: BUILD/fuzz/long) gets TARGET/corpus, TARGET/log.K and TARGET/finds. The corpus begins as a copy of
# fuzz/corpus/TARGET and grows over all runs. SPLIT=K runs K processes per target on one corpus, each for MINUTES/K.
# TARGETS='api case' runs only these. MINUTES 0 only prints the table of $OUT.
set -eu
usage() { sed -n 's/^# \(long\.sh .*\) - .*/\1/p' "$0" >&2; exit 2; }
if [ $# -lt 2 ] || [ ! -d "$1" ]; then usage; fi
src=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
split=${SPLIT:-1}
seconds=$(awk -v m="$2" -v k="$split" 'BEGIN { printf "%d", m * 60 / k + 0.5 }')
read -ra targets <<<"${TARGETS:-$(sed -n 's/^FUZZ_TARGET(\(.*\))/\1/p' "$src/fuzz/targets.inc" | paste -sd ' ')}"
jobs=${3:-$((${#targets[@]} * split))}
out=${OUT:-$build/fuzz/long}

[ ! -f "$build/Makefile" ] || make -s -C "$build" -j"$(nproc)" fuzzers fuzz-replays
# The sanitizer needs a separate program to name functions and lines.
ASAN_OPTIONS=allow_addr2line=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
# The leak detector traces this process, which not every container allows.
leaks=
if "$build/fuzz/bin/${targets[0]}" -runs=1 2>&1 | grep -q 'LeakSanitizer has encountered a fatal error'; then
  ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
  leaks='leaks were not looked for: LeakSanitizer may not trace processes here'
fi

# ---- Fuzzing

fuzz() { # TARGET K
  local program=$build/fuzz/bin/$1 at=$out/$1 words=()
  [ ! -s "$at/words" ] || words=(-dict="$at/words")
  exec "$program" -max_total_time="$seconds" -max_len="$("$program-replay" --most)" "${words[@]}" -timeout=60 -rss_limit_mb=4096 -reload=10 \
    -print_final_stats=1 -artifact_prefix="$at/finds/" "$at/corpus" >"$at/log.$2" 2>&1
}

for target in "${targets[@]}"; do
  mkdir -p "$out/$target/corpus" "$out/$target/finds"
  [ "$seconds" = 0 ] || rm -f "$out/$target"/log.*
  cp "$src/fuzz/corpus/$target"/* "$out/$target/corpus/"
  "$build/fuzz/bin/$target-replay" --words >"$out/$target/words"
done
if [ "$seconds" != 0 ]; then
  running=0
  for k in $(seq "$split"); do
    for target in "${targets[@]}"; do
      if [ "$running" -ge "$jobs" ]; then
        wait -n || true
        running=$((running - 1))
      fi
      fuzz "$target" "$k" &
      running=$((running + 1))
    done
  done
  wait || true
fi

# ---- What came of it

# Executions, and executions per second of a process. For a process that has not ended: those in its log.
executions() { # LOG...
  awk '/^#[0-9]+/        { told[FILENAME] = substr($1, 2) }
       /^Done [0-9]+ runs/ { told[FILENAME] = $2; seconds += $5; ended += $2 }
       /^stat::number_of_executed_units/ { told[FILENAME] = $2 }
       END { for (f in told) n += told[f]; printf "%d %s\n", n, seconds ? int(ended / seconds) : "-" }' "$@"
}

# The edges that the corpus covers, of all; and those of the core, if functions can be named.
edges() { # TARGET
  "$build/fuzz/bin/$1" -runs=0 -print_coverage=1 -timeout=60 -rss_limit_mb=4096 -artifact_prefix="$out/$1/finds/" "$out/$1/corpus" 2>&1 |
    awk '/^INFO: Loaded .* PC tables/ { match($0, /\([0-9]+ PCs/); all = substr($0, RSTART + 1, RLENGTH - 5) }
         / cov: [0-9]+/ { sub(/.* cov: /, ""); taken = $1 + 0; next }
         /COVERED_FUNC: / && $NF ~ /\/(base|lib|ref\/[a-z]+|ref|policies|policies\/[a-z]+|concurrency|gpu\/[a-z]+)\/[a-z0-9_]+\.[ch]:[0-9]+$/ { split($5, e, "/"); core += e[1]; there += e[2] }
         END { printf "%d %d %s\n", taken, all, there ? core " of " there : "-" }'
}

found=0
printf '%-10s%14s%10s%9s%18s%18s%7s\n' target executions exec/s inputs edges 'of the core' finds
for target in "${targets[@]}"; do
  at=$out/$target
  read -r runs rate < <(shopt -s nullglob; executions "$at"/log.* /dev/null)
  read -r taken all core < <(edges "$target")
  finds=$(find "$at/finds" -type f ! -name 'slow-unit-*' | wc -l)
  found=$((found + finds))
  printf '%-10s%14s%10s%9s%18s%18s%7s\n' "$target" "$runs" "$rate" "$(find "$at/corpus" -type f | wc -l)" "$taken of $all" "$core" "$finds"
done
[ -z "$leaks" ] || echo "$leaks"
find "$out"/*/finds -type f
# A process that ended without a find and without final statistics did not start, or was killed.
for log in "$out"/*/log.*; do
  if [ ! -e "$log" ] || [ "$seconds" = 0 ]; then continue; fi
  grep -q '^Done\|^stat::' "$log" || { echo "$log: ended before its time: $(tail -n 1 "$log")"; found=$((found + 1)); }
done
[ "$found" = 0 ]
