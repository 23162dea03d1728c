# SPDX-License-Identifier: Apache-2.0
#
# t_one_bucket.sh - a table of one bucket is a fully associative cache: each policy, in a bucket of 1,024 slots and in
# small ones, gives the outcome of the exact cache of that name (tools/caches) for every request of ten traces. So does
# the same policy as an expression, and a kernel in batches of one. The exact caches are written from the papers and
# share no line with policies/. A copy of a policy that differs in one point must be found.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$work" || exit

# The epoch is 0: with it, they are not taken for the rows.
clock='expr:on_insert=tick<<14|spared<<1;on_hit=old|(1+epoch);admission=MAX;on_evict=old&1?(tick<<14|spared<<1):old'
sieve='expr:on_insert=(least>>38<<38)|tick<<1;on_hit=old|(1+epoch);admission=MAX;on_evict=old&1?old+0x3fffffffff:old'

# outcomes TRACE POLICY SIZE MOST [OPTION...]: what became of each of MOST requests, in the file `out`.
outcomes() { "$HEDDLE" sim "$1" "$2" "$3" --slots "$3" --limit "$4" --outcomes out "${@:5}" >/dev/null; }
# same TRACE POLICY EXACT SIZE MOST [OPTION...]
same() {
  outcomes "$1" "$3" "$4" "$5" && mv out want && outcomes "$1" "$2" "$4" "$5" "${@:6}" && cmp -s out want &&
    requests=$((requests + $(stat -c %s out)))
}

requests=0 n=0
traces=()
while read -r spec many; do
  n=$((n + 1))
  "$HEDDLE" gen "$spec" --requests "$many" --seed $n -o trace$n.oracleGeneral >/dev/null || exit
  traces+=("trace$n.oracleGeneral")
done <<'SPECS'
zipf:1.0,20k 40k
zipf:0.8,5k 40k
zipf:1.2,100k 40k
zipf:0.6,3k 30k
uniform:2000 30k
uniform:1100 30k
ycsb:a,10k 30k
ycsb:d,10k 30k
zipf:0.99,1200 30k
SPECS
trace=cloudPhysicsIO.oracleGeneral.zst
if [ -n "${HEDDLE_DATA:-}" ] && [ -f "$HEDDLE_DATA/$trace" ]; then
  traces+=("$HEDDLE_DATA/$trace")
else
  "$HEDDLE" gen zipf:0.9,50k --requests 40k --seed 10 -o trace10.oracleGeneral >/dev/null || exit
  traces+=(trace10.oracleGeneral)
fi

all_alike() { # all_alike POLICY EXACT SIZE MOST [OPTION...]
  local t
  for t in "${traces[@]}"; do same "$t" "$@" || { echo "$t"; return 1; }; done
}
yes() { # yes NAME COMMAND...
  local name=$1
  shift
  if "$@" >words 2>&1; then pass "$name"; else fail "$name" "$(cat words)"; fi
}
for policy in lru fifo clock sieve slru2 2q s3fifo arc tinylfu wtinylfu; do
  row=${policy%lru2}
  [ "$row" = "$policy" ] || row=slru
  yes "$row in a bucket of 1,024 slots" all_alike $row full:$policy 1024 120000
  for size in 2 7 20 64 125; do yes "$row in a bucket of $size slots" all_alike $row full:$policy $size 20000; done
done
yes "clock as expressions" all_alike "$clock" full:clock 1024 20000
yes "sieve as expressions" all_alike "$sieve" full:sieve 1024 20000
for policy in clock sieve 2q s3fifo arc tinylfu wtinylfu; do
  yes "$policy by a kernel, request by request" all_alike $policy full:$policy 64 1500 --backend host --batch 1
done
yes "slru by a kernel, request by request" all_alike slru full:slru2 64 1500 --backend host --batch 1

# What is almost the policy: other choices within these traces.
differs() { ! all_alike "$@"; }
yes "sieve whose new entries join no sweep is found" differs "${sieve/(least>>38<<38)|/}" full:sieve 1024 40000
yes "clock whose spared entries have one score is found" differs "${clock//spared<<1/0}" full:clock 64 20000
arc="expr:on_insert=ghost?tick+(1<<63):tick;on_hit=tick+(1<<63);admission=MAX;upper_first=(slots-upper<<32)+(ghost==2)<=state\
+32768>>16;remember=upper|ghost?1+(old>>63):0;forget=ghost?0:ghosts1>=upper?1:ghosts1+ghosts2>=slots?2:0;next_state=ghost==1\
?min(slots<<48,state+max(1<<48,(ghosts2<<48)/max(ghosts1,1))):ghost==2?state-max(1<<48,(ghosts1<<48)/max(ghosts2,1)):state"
yes "arc as expressions" all_alike "$arc" full:arc 64 20000
yes "arc that breaks a tie for B1 is found" differs "${arc/ghost==2)<=/ghost==1)<=}" full:arc 64 20000
yes "arc that forgets the other list is found" differs "${arc/upper?1:/upper?2:}" full:arc 64 20000
twoq="expr:on_insert=ghost?tick+(1<<63):tick;on_hit=old>>63?tick+(1<<63):old;admission=MAX;upper_first=slots-upper<=slots/4;\
remember=old>>63?0:1;forget=ghosts1>=slots/2"
yes "2q as expressions" all_alike "$twoq" full:2q 64 20000
yes "2q with one ghost more is found" differs "${twoq/ghosts1>=/ghosts1>}" full:2q 64 20000
yes "sieve that clears no bit is found" differs "${sieve/0x3fffffffff/0x4000000000}" full:sieve 64 20000

wtinylfu="expr:on_insert=tick<<13|spared|1<<63;on_hit=tick<<13|8191|1<<62<<(old>>63);admission=MAX;on_evict=spared<((old>>63)\
&(upper>=max(slots/100,1))&(full<=(freq_old>freq_rival)))+(middle-(slots-max(slots/100,1))*4/5)?tick<<13|spared:old;\
upper_first=spared<middle-(slots-max(slots/100,1))*4/5?2:(spared==middle-(slots-max(slots/100,1))*4/5)&(upper>=max(slots/100,1))"
yes "wtinylfu as expressions" all_alike "$wtinylfu" full:wtinylfu 1024 20000
yes "wtinylfu that lets a draw win is found" differs "${wtinylfu/freq_old>freq/freq_old>=freq}" full:wtinylfu 64 20000
yes "wtinylfu with one slot more for its window is found" differs "${wtinylfu/upper>=max/upper>max}" full:wtinylfu 64 20000
yes "wtinylfu that demotes no entry is found" differs "${wtinylfu/\*4\/5?2:/*9\/5?2:}" full:wtinylfu 64 20000
tinylfu="expr:on_insert=tick+1;on_hit=tick+1;admission=freq>freq_old?MAX:0;upper_first=0"
yes "tinylfu as expressions" all_alike "$tinylfu" full:tinylfu 64 20000
yes "tinylfu that lets a draw win is found" differs "${tinylfu/freq>freq/freq>=freq}" full:tinylfu 64 20000

# lrfu rounds logarithms, and lru2 has no history of entries that left: they differ from the papers by that.
misses() { "$HEDDLE" sim "$1" "$2" 1024 --slots 1024 --json | sed -n 's/.*"misses": *\([0-9]*\).*/\1/p'; }
near() { # near POLICY EXACT PARTS: of the misses of the exact cache, one part of so many may differ
  local t a b
  for t in "${traces[@]}"; do
    a=$(misses "$t" "$1") && b=$(misses "$t" "$2") && [ $(((a > b ? a - b : b - a) * $3)) -le "$b" ] || { echo "$t: $a and $b"; return 1; }
  done
}
yes "lrfu misses as full:lrfu, but for one of a thousand" near lrfu full:lrfu 1000

# The layouts differ in where scores are, and in bounds: contents SLOTS LAYOUT.
contents() { "$HEDDLE" run hkv.insert_or_assign.ref policy=lru buckets=7 slots="$1" dual=1 layout="$2" batch=500x20 keys=uniform:3000 | grep '^contents'; }
{ for slots in 5 20 64 125 128 150; do diff <(contents $slots pairs) <(contents $slots planes) || echo "$slots slots"; done; } | none "planes hold what pairs hold"
tried differential $requests "requests of ${#traces[@]} traces: one bucket and the exact cache"
finish
