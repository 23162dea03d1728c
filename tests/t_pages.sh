# SPDX-License-Identifier: Apache-2.0
#
# t_pages.sh - tests of the pages that the command writes, in headless Chromium without a network (tests/pages). What a
# page shows at each step is compared with its JSON. Skipped without Chromium. The pages and screenshots stay in
# tests/pages-made of the build folder.
set -u
here=${top_srcdir:?}/tests/pages
work=${top_builddir:?}/tests/pages-made
browser=$(command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome) ||
  { echo "1..0 # SKIP Chromium is not installed (Debian: apt install chromium)"; exit 77; }
python=$(command -v python3) || { echo "1..0 # SKIP python3 is missing"; exit 77; }
rm -rf "$work" && mkdir -p "$work" || exit 1
heddle() {
  "${HEDDLE:?}" "$@" >"$work/out" 2>&1 || [ $? = 1 ] || { cat "$work/out"; exit 1; }
}

# A folder whose name ends a script, in a place that a page shows.
hostile=$work/'a<'/'script><b>&amp;"'$'\u2028''<!--'
mkdir -p "$hostile" && printf '>tiny\nGATTACAGATTACATTAGA\n' >"$hostile/tiny.fa"

heddle explain hkv.insert_or_assign.tlpv1 --html "$work/explain.html"
heddle explain hkv.insert_or_assign.tlpv1 --beside coalesced --html "$work/beside.html"
heddle explain hkv.find_or_insert.pipeline slots=128 "keys=kmer:$hostile/tiny.fa,3" --html "$work/hostile.html"
heddle explain hive.find.batched --html "$work/hive.html"
heddle explain hkv.insert_or_assign.coalesced batch=1024x1 --html "$work/long.html"
heddle explain hkv.insert_or_assign.ref dual=1 seed=7 --html "$work/reference.html"
heddle explain policy=epoch_lfu epoch_every=4 requests=10 --html "$work/policy.html"
heddle explain 'policy=expr:on_insert=now;on_hit=(old>>1)+(now>>1)' dual=1 slots=2 requests=10 --html "$work/expression.html"
heddle gen zipf:0.9,200 --requests 2000 -o "$work/told.oracleGeneral"
heddle explain trace="$work/told.oracleGeneral" bucket=2 buckets=4 skip=40 requests=10 --html "$work/trace.html"
heddle explain grow=hive seed=2 --html "$work/grow.html"
heddle explain lock=group3 batches=RRI --html "$work/lock.html"
heddle museum slot_cas_only --html "$work/museum.html"
heddle museum relaxed_handover --html "$work/weak.html"
heddle sched hkv.insert_or_assign.tlpv1 batch=3x1 --schedules 5 --html "$work/sched.html"
awk -v out="$work" -f "$top_srcdir/tests/puzzle_mutants.awk" "$top_srcdir"/learn/puzzles/move/{wrong.txt,model.c}
XDG_STATE_HOME=$work/state heddle puzzle move "$work/wrong_relaxed_mover.c" --html "$work/puzzle.html"
CHROMIUM=$browser "$python" "$here/run.py" "$work" story
