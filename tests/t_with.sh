# SPDX-License-Identifier: Apache-2.0
#
# t_with.sh - tests of files of kernels, policies and predicates (doc/extending.md): `heddle new`, --with, `heddle compile`. The
# command is that of `make install`, in a folder without the sources: what it compiles with are the installed headers.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS GITHUB_ACTIONS
if ! command -v "${CC%% *}" >/dev/null 2>&1; then CC=cc; fi
if ! command -v "${CC%% *}" >/dev/null; then
  skip "files are compiled" "there is no C compiler"
  finish
fi
export CC
words=$work/err
root=$work/root
try "make install" "${MAKE:-make}" -C "$top_builddir" install DESTDIR="$root"
heddle=$(find "$root" -path '*/bin/heddle')
dialect=$(find "$root" -path '*/include/heddle/dialect')
if [ -x "$heddle" ] && [ -f "$dialect/gpu/one_file.inc" ] && [ -f "$dialect/include/heddle.h" ]; then pass "the headers are installed"
else fail "the headers are installed" "$dialect"; finish; fi
mkdir "$work/here" && cd "$work/here" || exit 1

# ok NAME PATTERN COMMAND...: exit code 0, and the pattern in what is printed.
# bad NAME CODE PATTERN COMMAND...: that exit code, and the pattern in what is printed.
bad() {
  local name=$1 want=$2 pattern=$3 code
  shift 3
  guard "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  if [ $code != "$want" ]; then fail "$name" "exit code $code, not $want: $*"
  elif ! cat "$work/out" "$work/err" | grep -qE -- "$pattern"; then fail "$name" "nothing says '$pattern': $*"
  else pass "$name"; fi
}
ok() { bad "$1" 0 "${@:2}"; }

# ---- The trial: from nothing to a judged kernel ----------------------------------------------------------------------

began=$EPOCHREALTIME
ok "heddle new makes a kernel" 'kernel mine' "$heddle" new kernel mine.h
ok "its first judged run" 'judge +[0-9,]+ items, all truthful' "$heddle" --with mine.h run --judge hkv.mix.mine policy=lru buckets=8 slots=16 batch=100x200
took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
echo "# from nothing to a judged kernel in $took s"
if awk -v t="$took" 'BEGIN { exit t >= 60 }'; then pass "it comes within seconds"; else fail "it comes within seconds" "$took s"; fi
if grep -qE '^heddle: mine.h: kernel hkv.mine, compiled in ' "$work/err"; then pass "a line says that it was compiled"; else fail "a line says that it was compiled"; fi
ok "the second run has it from the cache" 'mine.h: kernel hkv.mine, from the cache \(hit 1\)' "$heddle" --with mine.h list kernels
ok "the third, too" 'from the cache \(hit 2\)' "$heddle" --with=mine.h list kernels
touch mine.h
ok "the text counts, not the time of the file" 'from the cache \(hit 3\)' "$heddle" --with mine.h list kernels

case='hkv.insert_or_assign.mine policy=lfu'
ok "sched" 'bugs +0' "$heddle" --with mine.h sched $case dual=1 --weak --schedules 100
ok "sched beside a kernel of the tree" 'bugs +0' "$heddle" --with mine.h sched hkv.find.mine + hkv.contains.tlpv1 --schedules 30
ok "diff against the reference" 'same +yes' "$heddle" --with mine.h diff mine ref --case 'hkv.insert_and_evict policy=lfu batch=12x1'
ok "diff against a variant" 'same +yes' "$heddle" --with mine.h diff mine tlpv1 --case 'hkv.find_or_insert slots=8 dual=1 seed=4'
ok "explain names the lines of the file" '  mine\.h:[0-9]+$' "$heddle" --with mine.h explain hkv.find.mine seed=2
ok "bench" 'hkv\.find\.mine' "$heddle" --with mine.h bench 'hkv.find.mine backend=host capacity=16Ki value=64 batch=4096' --repeat 2 --min-time 0.01
ok "the counts of sectors and steps" '^find +mine .* yes *$' "$heddle" --with mine.h run --kernels hkv.find.mine buckets=4 slots=8 batch=64x20 keys=uniform:80
ok "fuzz" '^schedule +0 .* no *$' "$heddle" --with mine.h fuzz --kernel mine --runs 150 --junit fuzz.xml
ok "explain makes a page with the text of the file" '' "$heddle" --with mine.h explain hkv.find.mine seed=2 --html page.html
if grep -q 'mine_look(simt_tile' page.html; then pass "the page has the text"; else fail "the page has the text"; fi

# ---- Policies and predicates, and several files ----------------------------------------------------------------------

"$heddle" new policy twice.h >/dev/null && "$heddle" new predicate odd.h >/dev/null || exit 1
all=(--with mine.h --with twice.h --with odd.h)
ok "a policy and a predicate, by the reference" 'all truthful' "$heddle" "${all[@]}" run --judge hkv.mix.ref policy=twice buckets=4 slots=8 batch=64x100 keys=uniform:100
ok "by kernels of the tree" 'all truthful' "$heddle" "${all[@]}" run --judge hkv.mix.tlpv1 policy=twice dual=1 buckets=4 slots=8 batch=64x60 keys=uniform:100
ok "by the file's kernel" 'all truthful' "$heddle" "${all[@]}" run --judge hkv.mix.mine policy=twice buckets=4 slots=8 batch=64x60 keys=uniform:100
ok "schedules with the policy" 'bugs +0' "$heddle" "${all[@]}" sched hkv.find_or_insert.mine policy=twice --schedules 60
ok "the predicate selects" 'all truthful' "$heddle" --with odd.h run --judge hkv.erase_if.tlpv1 predicate=odd buckets=4 slots=8 batch=64x20 keys=uniform:100
ok "schedules with the predicate" 'bugs +0' "$heddle" --with odd.h sched hkv.erase_if.warp predicate=odd --schedules 30
ok "a curve of the policy" '^twice +10%' "$heddle" --with twice.h sweep zipf:0.9,1000 --requests 5k --policies lru,twice --sizes 10% --table
"$heddle" --with twice.h list policies | grep -q '^twice ' && "$heddle" --with odd.h list predicates | grep -q '^odd ' && pass "lists have the rows" || fail "lists have the rows"
printf 'HD_FN uint64_t shift(uint64_t x) { return x >> 1; }\n' >shift.h
sed 's/#ifdef HD_POLICY_TEXT/&\n#include "shift.h"/; s/return in.now >> 1; }/return shift(in.now); }/; s/twice/thrice/' twice.h >thrice.h
ok "a file that includes another" 'policy thrice, compiled' "$heddle" --with thrice.h list policies
ok "what it includes is in the key of the cache" 'from the cache \(hit 1\)' "$heddle" --with thrice.h list policies
sed -i 's/>> 1/>> 2/' shift.h
ok "another text there is compiled" 'policy thrice, compiled' "$heddle" --with thrice.h list policies
CC="$CC -DOTHER=1" ok "other words for the compiler, too" 'policy thrice, compiled' env CC="$CC -DOTHER=1" "$heddle" --with thrice.h list policies
ok "heddle compile" '^odd.h +predicate odd +host +[0-9]+ .*/heddle/odd\.h-[0-9a-f]{16}\.so$' "$heddle" compile odd.h
if cmp -s <(sed 's/.*/x/' "$work/out") <(printf 'x\nx\n'); then pass "it prints a line for each"; else fail "it prints a line for each"; fi

# The kernels of other designs, here a copy of one.
sed 's/tile/mine/g; s/simt_mine/simt_tile/g; s/TILE/MINE/g' "$dialect/gpu/hive/tile.h" >hive.h
ok "a kernel of another design" 'all truthful' "$heddle" --with hive.h run --judge hive.mix.mine buckets=4 slots=8 batch=64x20 keys=uniform:80
ok "beside one of the same name" 'bugs +0' "$heddle" --with mine.h --with hive.h sched hive.insert_or_assign.mine --schedules 20

# ---- Bugs are found --------------------------------------------------------------------------------------------------

grep -v pins_count mine.h >pins.h
bad "a kernel that does not count pins: the judge" 1 'HKV-6: .* pinned.*again: heddle --with pins.h run' "$heddle" --with pins.h run --judge hkv.mix.mine dual=1 buckets=8 slots=16 batch=100x200 --junit run.xml
bad "... and fuzz" 1 'again: heddle --with pins.h fuzz schedule --kernel mine hex:[0-9a-f]+$' "$heddle" --with pins.h fuzz schedule --kernel mine --runs 2000 --junit found.xml --output found
again=$(sed -n 's/.*; again: heddle \(.*\)$/\1/p' "$work/out")
replay=$(sed -n 's/^heddle \(--with pins.h sched .*\)$/\1/p' "$work/out")
# shellcheck disable=SC2086 # words
bad "the command that it prints shows the bug again" 1 'found +.*yes|  yes' "$heddle" $again
eval "bad 'the schedule that it prints, too' 1 'bugs +1' \"\$heddle\" $replay"
bad "the file that it keeps, too" 1 'yes' "$heddle" --with pins.h fuzz schedule --kernel mine found --output found2
look=$(grep -n 'simt_ballot' mine.h | cut -d: -f1)
sed "${look}s|^|simt_st_u64(hkv_key_at(v, hkv_entry(v, b, 0)), key); |" mine.h >racy.h
bad "a race has its line" 1 "racy\.h:$look: " "$heddle" --with racy.h sched hkv.find.mine seed=1 --schedules 20 --junit race.xml
GITHUB_ACTIONS=true bad "GitHub is told the line" 1 "^::error file=racy\.h,line=$look::" env GITHUB_ACTIONS=true "$heddle" --with racy.h sched hkv.find.mine seed=1 --schedules 20
for file in fuzz:0 run:1 found:1 race:1; do
  name=${file%:*}.xml
  if grep -qE "^<testsuite .* failures=\"${file#*:}\"" "$name" && { ! command -v python3 >/dev/null || python3 -c 'import sys, xml.dom.minidom as d; s = d.parse(sys.argv[1]).documentElement; sys.exit(len(s.getElementsByTagName("failure")) != int(s.getAttribute("failures")) or len(s.getElementsByTagName("testcase")) != int(s.getAttribute("tests")))' "$name"; }
  then pass "$name is JUnit XML with ${file#*:} failures"; else fail "$name is JUnit XML with ${file#*:} failures" "$(cat "$name")"; fi
done

# ---- Mistakes --------------------------------------------------------------------------------------------------------

line=$(grep -n 'hkv_begin' mine.h | sed -n 's/^\([0-9]*\):.*hkv_one.*/\1/p' | head -n 1)
sed "${line}s/hkv_begin/hkv_begn/" mine.h >typo.h
bad "a mistake of C has its line" 3 "^typo\.h:$line:[0-9]+: .*hkv_begn" "$heddle" --with typo.h list kernels
GITHUB_ACTIONS=true bad "GitHub is told the line" 3 "^::error file=typo\.h,line=$line,col=[0-9]+::" env GITHUB_ACTIONS=true "$heddle" --with typo.h list kernels
grep -v '^HKV_LISTED' mine.h >norow.h
bad "a file without a row" 3 'norow\.h: it has no row: a file ends in' "$heddle" --with norow.h list kernels
bad "a name that exists" 3 'there is a kernel hkv\.mine already' "$heddle" --with mine.h --with mine.h list kernels
sed 's/"mine"/"tlpv1"/g' mine.h >tlpv1.h
bad "a name of the tree" 3 'there is a kernel hkv\.tlpv1 already' "$heddle" --with tlpv1.h list kernels
sed 's/"mine"/"My kernel"/g' mine.h >name.h
bad "a name that none can have" 3 "'My kernel' is no name" "$heddle" --with name.h list kernels
sed 's/{ HKV_UPSERT,/{ 99,/' mine.h >family.h
bad "operations that there are not" 3 'row 2: design hkv has no operations of family 99' "$heddle" --with family.h list kernels
sed 's/{ HKV_UPSERT,/{ HKV_LOOKUP,/' mine.h >same.h
bad "two rows for one family" 3 'rows 1 and 2 are of one family' "$heddle" --with same.h list kernels
sed 's/HKV_RAN("mine")/HKV_RAN("pair")/' mine.h >ran.h
bad "a wrong .ran" 3 "it ran as 'hkv\.[a-z_]+\.pair'" "$heddle" --with ran.h list kernels
sed 's/mine_LANES = 4/mine_LANES = 3/' mine.h >lanes.h
bad "three lanes" 3 'the lanes are not' "$heddle" --with lanes.h list kernels
sed 's/HD_ORDER_FREE)/HD_ORDER_FREE | HD_SCORE_IS_TIME)/' twice.h >claims.h
bad "a policy that claims too much" 3 'claims flags that do not hold: SCORE_IS_TIME' "$heddle" --with claims.h list policies
sed 's/return in.now >> 1; }/return in.given; }/; s/HD_MONOTONE | HD_ORDER_FREE/HD_ORDER_FREE/' twice.h >given.h
bad "a policy that hides that it reads scores" 3 'does not claim HD_SCORES_USED' "$heddle" --with given.h list policies
# A policy that spares an entry once: its row is HD_POLICY_APART, and it claims that.
sed -e 's/twice/chance/g; s/HD_POLICY(/HD_POLICY_APART(/; s/HD_MONOTONE | HD_ORDER_FREE/HD_MONOTONE | HD_SPARES | HD_ADMITS_ALL/' \
  -e 's/return in.now >> 1 | 1ull << 63;/return old | 1ull << 63;/' twice.h >chance.h
sed -i 's/^#endif$/HD_FN uint64_t chance_on_evict(uint64_t old, hd_score_in in) { (void)in; return old >> 62 == 2 ? old | 1ull << 62 : old; }\n#endif/' chance.h
for kernel in ref tlpv1 coalesced; do
  ok "a policy of a file that spares, by $kernel" 'all truthful' "$heddle" --with chance.h run --judge hkv.mix.$kernel policy=chance buckets=4 slots=16 batch=64x60 keys=uniform:100
done
ok "schedules with it" 'bugs +0' "$heddle" --with chance.h sched hkv.insert_or_assign.coalesced policy=chance --schedules 60
sed 's/ | HD_SPARES | HD_ADMITS_ALL//; s/chance/silent/g' chance.h >silent.h
bad "a policy that hides that it spares" 3 'does not claim HD_SPARES' "$heddle" --with silent.h list policies
# One with queues, ghosts and a state.
sed 's/\barc\b/tuned/g; s/\barc_/tuned_/g' "$top_srcdir/policies/arc.h" >tuned.h
for kernel in ref coalesced; do
  ok "a policy of a file with queues, by $kernel" 'all truthful' "$heddle" --with tuned.h run --judge hkv.mix.$kernel policy=tuned buckets=4 slots=16 batch=64x60 keys=uniform:100
done
sed 's/ | HD_REMEMBERS//; s/tuned/hiding/g' tuned.h >hiding.h
bad "a policy that hides its ghosts" 3 'does not claim .*HD_REMEMBERS' "$heddle" --with hiding.h list policies
sed 's/twice/lru/g' twice.h >lru.h
bad "a policy of the tree" 3 "lru\.h:.*does not accept it: a name in it is one of the tree's" "$heddle" --with lru.h list policies
sed 's/odd/all/g' odd.h >all.h
bad "a predicate of the tree" 3 "all\.h:.*does not accept it: a name in it is one of the tree's" "$heddle" --with all.h list predicates
sed 's/twice_/other_/g; s/HD_POLICY(twice/HD_POLICY(other/' twice.h >other.h
bad "a policy that is there" 3 "there is a 'other' already" "$heddle" --with other.h --with other.h list policies
bad "a predicate that is there" 3 "there is a 'odd' already" "$heddle" --with odd.h --with odd.h list predicates
bad "no such file" 2 "there is no file 'absent\.h'" "$heddle" --with absent.h list
bad "no file at all" 2 'names no file' "$heddle" --with
bad "no compiler" 4 "there is no C compiler 'absent-cc'" env CC=absent-cc "$heddle" --with mine.h list
bad "no folder for the cache" 4 'HOME or XDG_CACHE_HOME' env -u HOME -u XDG_CACHE_HOME "$heddle" --with mine.h list
if [ "$(id -u)" = 0 ] && mkdir -p "$work/theirs/heddle" && chown 1 "$work/theirs/heddle" 2>/dev/null; then
  bad "a cache of another user" 4 "is another user's" env XDG_CACHE_HOME="$work/theirs" "$heddle" --with mine.h list
else skip "a cache of another user" "only root can make one"; fi
bad "a file that is there is kept" 2 'File exists' "$heddle" new kernel mine.h
bad "an unknown kind" 2 'nearest: kernel' "$heddle" new kernle other.h
bad "a name of a file that no row can have" 2 'named after the file' "$heddle" new kernel Other.h
bad "fuzz: no such kernel" 2 "there is no 'absent'" "$heddle" fuzz --kernel absent
bad "fuzz: a target without kernels" 2 'runs no kernels' "$heddle" fuzz table --kernel tlpv1
bad "run --junit without --judge" 2 '--judge' "$heddle" run hkv.mix.ref buckets=4 slots=8 batch=8x2 --junit x.xml
bad "bytes that are none" 2 'hex' "$heddle" fuzz kernels hex:0g
bad "the museum takes none" 2 'program of its own' "$heddle" --with mine.h museum
ln -s /etc/hostname "$XDG_CACHE_HOME/link" && object=$("$heddle" compile mine.h --csv 2>/dev/null | tail -n 1 | cut -d, -f6) && : >"$object"
bad "an object that is none" 3 'cannot be loaded' "$heddle" --with mine.h list
rm -f "$object"

# ---- A GPU -----------------------------------------------------------------------------------------------------------

nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)
if [ -n "$nvcc" ]; then
  export NVCC=$nvcc
  ok "nvcc compiles the same file" '^mine.h +kernel hkv\.mine +cuda ' "$heddle" compile --cuda mine.h
  guard "$heddle" --with mine.h bench --backend cuda find variant=mine load=0.5 capacity=64Ki >"$work/out" 2>"$work/err"
  code=$?
  if [ $code = 77 ] && grep -q 'mine.h: kernel hkv.mine for CUDA, from the cache (hit 1)' "$work/err" && grep -q 'no CUDA device' "$work/err"; then pass "without a GPU its timing is skipped"
  elif [ $code = 0 ]; then pass "a GPU times it"
  else fail "without a GPU its timing is skipped" "exit code $code"; fi
  bad "a mistake of CUDA C++ has its line" 3 "^typo\.h\($line\)|^typo\.h:$line" "$heddle" compile --cuda typo.h
else
  skip "nvcc compiles the same file" "there is no nvcc"
fi

# ---- Headers of another version: the last cases, for they spoil the installation -------------------------------------

cp "$dialect/base/dialect_id.h" "$work/id" && sed -i 's/"[0-9-]*"/"1-1"/' "$dialect/base/dialect_id.h"
bad "headers of another build" 3 'headers that are not those of this build \(1-1, not' "$heddle" --with mine.h list
cp "$work/id" "$dialect/base/dialect_id.h" && sed -i 's/^#define HD_VERSION_MINOR .*/#define HD_VERSION_MINOR 99/' "$dialect/include/heddle.h"
bad "headers of another version" 3 'headers of version 0\.99\.0, and this is version' "$heddle" --with mine.h list
rm -r "$dialect"
if [ -e /usr/local/include/heddle/dialect ]; then skip "headers that are missing" "another Heddle has some"
else bad "headers that are missing" 4 'the headers are missing: .make install.' "$heddle" --with mine.h list; fi

finish
