# SPDX-License-Identifier: Apache-2.0
#
# t_same.sh - the same case gives the same report, byte for byte, with any number of threads, except for times, whose
# names end in _s. And the same seed gives the same schedules. With HEDDLE_SAME=FOLDER the reports are also written
# there, and matrix.sh compares them between builds.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"

# stripped THREADS COMMAND...: the report without times and without the requested number of threads.
stripped() {
  local threads=$1
  shift
  OMP_NUM_THREADS=$threads "$HEDDLE" "$@" 2>"$work/words" |
    sed -E 's/("[a-z0-9_]*_s": *)[-+.0-9eE]+/\1"-"/g; s/("threads": *)[0-9]+/\1"-"/g; s/threads=[0-9]+/threads=-/g'
  [ "${PIPESTATUS[0]}" = 0 ]
}

reports=0
# same NAME COMMAND...: THREADS in a word of the command becomes 1, 2, 4.
same() {
  local name=$1 threads
  shift
  for threads in 1 2 4; do
    if ! stripped $threads "${@//THREADS/$threads}" >"$work/$threads"; then
      fail "$name" "exit code not 0: heddle ${*//THREADS/$threads}: $(head -n 3 "$work/words")"
      return
    fi
  done
  [ -z "${HEDDLE_SAME:-}" ] || cat "$work/1" >>"$HEDDLE_SAME/reports"
  reports=$((reports + 3))
  if [ -s "$work/1" ] && cmp -s "$work/1" "$work/2" && cmp -s "$work/1" "$work/4"; then
    pass "$name"
  else
    fail "$name" "$(diff "$work/1" "$work/2"; diff "$work/1" "$work/4")"
  fi
}

[ -z "${HEDDLE_SAME:-}" ] || : >"$HEDDLE_SAME/reports"
run() { same "run $1" run "$1 threads=THREADS" --json; }

run 'hkv.serve.ref policy=lru capacity=64Ki batch=4096x40 keys=zipf:0.99,256Ki'
run 'hkv.insert_or_assign.ref policy=lru slots=8 capacity=4096 batch=1000x50 keys=uniform:20000 seed=2'
run 'hkv.insert_and_evict.ref policy=lfu slots=128 capacity=16Ki batch=4096x30 keys=zipf:0.8,64Ki seed=3'
run 'hkv.insert_or_assign.ref policy=epoch_lfu dual=1 slots=16 capacity=8Ki batch=2048x30 keys=uniform:32Ki seed=4'
run 'hkv.find_or_insert.ref policy=custom admit=always slots=32 capacity=8Ki value=64 batch=2048x30 keys=ycsb:a,32Ki seed=5'
run 'hkv.accum_or_assign.ref policy=epoch_lru slots=64 capacity=8Ki value=16 batch=2048x30 keys=zipf:1.2,32Ki seed=6'
run 'hkv.mix.ref policy=lru buckets=8 slots=32 batch=64x200 keys=uniform:600 seed=7'
run 'hkv.mix.ref policy=lfu dual=1 buckets=8 slots=4 batch=33x200 keys=uniform:80 seed=8 duplicate=200000 reserved=10000 extreme=50000'

trace=${HEDDLE_DATA:-}/cloudPhysicsIO.oracleGeneral.zst
if [ -r "$trace" ]; then
  same "sim of a real trace" sim "$trace" oracleGeneral lru,lfu,epoch_lru,epoch_lfu 128,10240 --json
  same "sim of a real trace, dual" sim "$trace" oracleGeneral lru,lfu 0.01,0.1 --dual --json
else
  skip "sim of a real trace" "cloudPhysicsIO.oracleGeneral.zst is not in HEDDLE_DATA"
fi

# Every step of one schedule, and a hash of a hundred.
schedule=$(awk 'BEGIN { for (i = 0; i < 300; i++) printf "%s%d:%d", i ? "," : "", i, i * i % 13 }')
sched() {
  same "sched $*" sched "$@" --schedules 100 --json
  same "sched $*, step by step" sched "$@" --replay "$schedule" --rows 100000 --json
}
sched hkv.insert_or_assign.tlpv1 policy=lfu duplicate=300000 --seed 11
sched hkv.find_or_insert.tlpv2 value=64 --strategy pct --seed 12
sched hkv.accum_or_assign.pipeline value=16 --unit warp --seed 13
sched hkv.insert_and_evict.warp dual=1 --weak --seed 14
sched hkv.assign.tlpv1 + hkv.touch.tlpv2 --strategy search --preempt sync

tried determinism $reports "reports on 1, 2 and 4 threads, byte for byte the same"
finish
