# SPDX-License-Identifier: Apache-2.0
#
# t_bench.sh - tests of heddle bench: every case of every suite parses, runs, and passes its checks on a small table;
# the JSON has the fields that Google Benchmark's compare.py reads; medians are positive and between minimum and
# maximum; usage errors have their exit codes.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$work" || exit 1
words=$work/err
bench() { guard "$HEDDLE" bench "$@" 2>err </dev/null; }
quick="--repeat 3 --min-time 0.001"

# ---- Suites ----------------------------------------------------------------------------------------------------------

bench --list --csv >list
lines=$(grep -hvE '^(#|$)' "${top_srcdir:?}"/bench/cases/*.txt | wc -l)
if [ "$(($(wc -l <list) - 1))" = "$lines" ]; then pass "--list has the $lines cases of bench/cases"
else fail '--list has all cases of bench/cases' "$(wc -l <list) lines for $lines cases"
fi
if [ -z "$(cut -d, -f1 list | sort | uniq -d)" ]; then pass 'no two cases have one name'; else fail 'no two cases have one name' "$(cut -d, -f1 list | sort | uniq -d)"; fi
# every operation of a cache is timed, single and dual
missing=
for op in $("$HEDDLE" list operations --csv | awk -F, 'NR > 1 && !/ordered/ { print $2 }'); do
  for mode in single dual; do grep -qE "^ops\.$op(\..*)?\.$mode," list || missing="$missing $op/$mode"; done
done
if [ -z "$missing" ]; then pass 'ops has every operation, single and dual'; else fail 'ops has every operation, single and dual' "not:$missing"; fi

# The suites on a small table: a file of the same cases with a capacity of 2 Ki. The traces of sim are the next
# section's.
sed -E 's/capacity=[0-9]+[KM]i/capacity=2Ki/; s/batch=65536/batch=256/' "$top_srcdir"/bench/cases/{ops,capacity,threads}.txt >small.txt
bench small.txt --repeat 1 --min-time 0 --json -o small.tsv >small.json
code=$?
want=$(grep -cvE '^(#|$)' small.txt)
if [ $code = 0 ] && ! [ -s err ] && [ "$(grep -cvE '^(#|name)' small.tsv)" = "$want" ]; then pass "all $want cases run on a small table, judged and checked"
else fail "all $want cases run on a small table" "exit $code, $(grep -cvE '^(#|name)' small.tsv) of $want"
fi
if awk -F'\t' '/^#/ || /^name/ { next } { n++; if (!($2 > 0 && $3 > 0 && $3 <= $2 && $2 <= $4 && $7 > 0 && $11 >= 17)) { print; bad = 1 } } END { exit bad || !n }' small.tsv >odd; then
  pass 'medians are positive, and between least and most'
else fail 'medians are positive, and between least and most' "$(head -n 3 odd)"
fi
# full means full: but for clear and what fills on its own, the load factor is near 1
if awk -F'\t' '/^#/ || /^name/ || /^clear/ || /^erase/ { next } $10 < 0.99 { print; bad = 1 } END { exit bad }' small.tsv >odd; then pass 'full tables are full'
else fail 'full tables are full' "$(head -n 3 odd)"
fi

# ---- Replays ---------------------------------------------------------------------------------------------------------

"$HEDDLE" gen zipf:0.9,3000 --requests 20k -o made.oracleGeneral.zst >out 2>err
for file in made.oracleGeneral made.oracleGeneral.zst; do # the plain one is unpacked from the other
  bench "probe=trace hkv.insert_or_assign.ref capacity=1Ki value=0 threads=1 keys=oracleGeneral:$file" --data . $quick --csv >out
  code=$?
  if [ $code = 0 ] && awk -F, 'NR == 2 { exit !($2 > 0 && $9 == 1024) }' out; then pass "a replay of $file"; else fail "a replay of $file" "exit $code: $(cat out)"; fi
done
HEDDLE_DATA='' bench sim $quick >out
code=$?
if [ $code = 77 ] && [ "$(wc -l <err)" -ge 1 ] && grep -q 'skipped.*--data' err && ! [ -s out ]; then pass 'sim without its trace: exit 77, and why'
else fail 'sim without its trace: exit 77' "exit $code"
fi
if [ -r "${HEDDLE_DATA:-}/cloudPhysicsIO.oracleGeneral.zst" ]; then
  bench sim $quick --csv >out
  code=$?
  if [ $code = 0 ] && [ "$(wc -l <out)" -gt 3 ]; then pass 'sim with its trace'; else fail 'sim with its trace' "exit $code"; fi
else skip 'sim with its trace' 'cloudPhysicsIO.oracleGeneral.zst is not in HEDDLE_DATA'
fi

# ---- What does not check out is not timed ----------------------------------------------------------------------------

# A full dictionary inserts no new keys: the outcomes are not what new keys must have
bench 'name=short hive.insert_or_assign.ref probe=new capacity=512 batch=512 threads=1' 'name=long hkv.find.ref capacity=4Ki threads=1' $quick --csv >out
code=$?
if [ $code = 1 ] && grep -q 'short is wrong.*pending' err && grep -q '^long,' out && ! grep -q '^short,' out; then pass 'outcomes that cannot be: exit 1, no time'
else fail 'outcomes that cannot be: exit 1, no time' "exit $code: $(cat out)"
fi

# ---- JSON ------------------------------------------------------------------------------------------------------------

bench 'name=a hkv.find.ref capacity=4Ki batch=512' 'name=b probe=miss hkv.find.ref capacity=4Ki batch=512' $quick --json -o file.json >out
code=$?
if [ $code = 0 ] && cmp -s out file.json; then pass '-o FILE.json is what --json prints'; else fail '-o FILE.json is what --json prints' "exit $code"; fi
if ! command -v python3 >/dev/null; then skip 'JSON as compare.py reads it' 'no python3'
elif python3 - >odd 2>err <<'END'
import json
for name, runs in (("out", 2 * (3 + 4)), ("small.json", None)):
    report = json.load(open(name))
    for key in "cpu_model", "compiler", "compiler_flags", "command":
        assert report["context"][key], key
    assert "host_name" not in report["context"] and "date" not in report["context"]
    rows = report["benchmarks"]
    assert rows and (runs is None or len(rows) == runs), len(rows)
    for row in rows:
        assert row["time_unit"] == "ns" and row["run_type"] in ("iteration", "aggregate") and row["run_name"], row
        assert row["real_time"] > 0 or row.get("aggregate_name") == "mad", row
        assert row["cpu_time"] >= 0, row
    for row in rows:
        if row.get("aggregate_name") != "median": continue
        times = sorted(r["real_time"] for r in rows if r["run_name"] == row["run_name"] and r["run_type"] == "iteration")
        middle = times[len(times) // 2]
        assert len(times) % 2 == 0 or abs(row["real_time"] - middle) <= 1e-4 * middle, (row, times)
        assert abs(row["items_per_second"] * row["real_time"] - 1e9) < 1e6, row
END
then pass 'JSON as compare.py reads it'
else fail 'JSON as compare.py reads it' "$(tail -n 1 err)"
fi

# ---- Points ----------------------------------------------------------------------------------------------------------

small="capacity=4Ki batch=64 dim=2,3 load=0.5,1 calls=3 --repeat 2"
bench --backend ref $small -o points.tsv -o points.json >out
code=$?
rows=$(grep -cvE '^(#|operation)' points.tsv)
# 14 rows of one bucket, 2 of two; two value sizes, two load factors
if [ $code = 0 ] && ! [ -s err ] && [ "$rows" = $((2 * 2 * (14 + 2))) ] && [ "$(grep -c '^# limit' points.tsv)" -ge 10 ]; then pass 'the table of goals, on a small table'
else fail 'the table of goals, on a small table' "exit $code, $rows rows"
fi
if awk -F'\t' '/^#/ || /^operation/ { next } !($11 > 0 && $12 >= 0 && $13 > 0 && $16 > 0 && $17 > 0 && $19 >= 3) { print; bad = 1 } END { exit bad }' points.tsv >odd; then
  pass 'points have rates, walls and floors'
else fail 'points have rates, walls and floors' "$(head -n 3 odd)"
fi
if ! command -v python3 >/dev/null; then skip 'JSON of points' 'no python3'
elif python3 - $rows >odd 2>err <<'END'
import json, sys
report = json.load(open("points.json"))
assert report["context"]["device"] and report["context"]["copy"] > 0
rows = report["benchmarks"]
assert len(rows) == int(sys.argv[1]) * (2 + 4), len(rows)
assert len({row["name"] for row in rows if row["run_type"] == "aggregate"}) == int(sys.argv[1]) * 4
for row in rows:
    if row.get("aggregate_name") == "median": assert row["items_per_second"] > 0 and row["floor_items_per_second"] > 0, row
END
then pass 'JSON of points'
else fail 'JSON of points' "$(tail -n 1 err)"
fi
# One call of each point alone, for a profiler: the same rows, of one call each.
bench --backend ref $small mode=watch -o watched.tsv >out
code=$?
diff <(grep -vE '^#' points.tsv | cut -f1-10) <(grep -vE '^#' watched.tsv | cut -f1-10) >odd
if [ $code = 0 ] && ! [ -s odd ] && awk -F'\t' '/^#/ || /^operation/ { next } !($11 > 0 && $13 == "" && $19 == 5) { bad = 1 } END { exit bad }' watched.tsv; then
  pass 'points to be watched are those of the table'
else fail 'points to be watched are those of the table' "exit $code, $(head -n 3 odd)"
fi

bench --backend host find insert_or_assign variant=all capacity=512 batch=16 dim=2 load=0.5 calls=1 keys=uniform,zipf:0.99 hits=0,1 dual=0,1 --repeat 1 --csv >out
code=$?
variants=$(cut -d, -f10 out | sed 1d | sort -u | wc -l)
runs=$(sed 1d out | cut -d, -f1,10 | sort -u | wc -l) # an operation by a variant: not every variant runs both
if [ $code = 0 ] && [ "$variants" -ge 4 ] && [ "$runs" -ge 9 ] && [ "$(sed 1d out | wc -l)" = $((runs * 2 * 2 * 2)) ]; then pass 'points by every variant'
else fail 'points by every variant' "exit $code, $variants variants, $(sed 1d out | wc -l) rows"
fi
bench --backend ref find dim=2 load=0.5 capacity=1Ki batch=32 calls=1 design=hkv --repeat 1 >out
code=$?
if [ $code = 0 ] && [ "$(sed '1d;/^$/,$d' out | awk '{ print NF, $NF }' | sort -u | tr '\n' ' ')" = '26 - 26 hash ' ]; then pass 'a point, a line'
else fail 'a point, a line' "exit $code, $(sed -n 3p out)"; fi

# Every parameter can be given as a word; parameters without a column are in the last one. Former names of kernels work.
bench --backend ref find dim=2 load=0.5 capacity=1Ki batch=32 calls=1 hits=1 dual=0 policy=lru,lfu pins=1 --repeat 1 --csv >out
code=$?
if [ $code = 0 ] && [ "$(cut -d, -f29 out | tr '\n' ';')" = 'set;pins=1;policy=lfu pins=1;' ]; then pass 'points by parameters'
else fail 'points by parameters' "exit $code, $(tail -n 1 out)"; fi
bench --backend ref design=hive find dual=1 --repeat 1 >out
code=$?
if [ $code = 2 ] && grep -q 'dual: ' err; then pass 'a parameter of another design is refused'; else fail 'a parameter of another design is refused' "exit $code"; fi
bench --backend host find variant=gather dim=2 load=0.5 capacity=1Ki batch=32 calls=1 hits=1 dual=0 --repeat 1 --csv >out
code=$?
if [ $code = 0 ] && [ "$(sed 1d out | cut -d, -f10)" = coalesced ]; then pass 'a variant by its former name'; else fail 'a variant by its former name' "exit $code"; fi

bench --backend ref find insert_or_assign erase export design=hive layout=words,masks load=0.5 capacity=1Ki batch=32 slots=32 calls=2 --repeat 1 --csv >out
code=$?
if [ $code = 0 ] && ! [ -s err ] && [ "$(grep -c ',words,.*,hive,32,queue,0,4,mix64$' out)" = 6 ] && [ "$(grep -c ',masks,.*,hive,32,queue,0,4,mix64$' out)" = 6 ]; then pass 'points of another design'
else fail 'points of another design' "exit $code, $(head -n 1 err)"; fi

# In bulk mode the capacity is just enough for the keys. Every row of the goals, except those that differ in calls only.
bench --backend ref design=hive bulk=1000 slots=8,16 hashes=2,3 load=0.8,0.9 --repeat 1 -o bulk.tsv >out
code=$?
if [ $code = 0 ] && ! [ -s err ] && awk -F'\t' '/^#/ || /^operation/ { next } { n++; room = $8 * $5 - $7; if (!($11 > 0 && $16 > 0 && $26 == 0 && room >= 0 && room < 16)) { print; bad = 1 } if ($25 == "bulk" && $3 ~ /[23]/) bulk++ }
  END { exit bad || n != 2 * 2 * 2 * 11 || bulk != n }' bulk.tsv >odd; then pass 'points in bulk'
else fail 'points in bulk' "exit $code, $(head -n 2 odd)"; fi
if [ "$(awk -F'\t' '$1 == "mixed" { n++ } END { print n }' bulk.tsv)" = 8 ]; then pass 'mixed batches among them'; else fail 'mixed batches among them' "$(grep -c ^mixed bulk.tsv)"; fi
bench --backend ref design=hive find bulk=500 hash=mix64,bithash1+bithash2 load=0.8 hits=1 --repeat 1 --csv >out
code=$?
if [ $code = 0 ] && [ "$(sed 1d out | cut -d, -f28 | tr '\n' ' ')" = 'mix64 bithash1+bithash2 ' ]; then pass 'points by hash functions'; else fail 'points by hash functions' "exit $code, $(head -n 1 err)"; fi
bench --backend ref design=hive insert_or_assign bulk=1200 spare=0 load=1 hits=0 --repeat 1 -o over.tsv >out
code=$?
if [ $code = 0 ] && [ "$(awk -F'\t' '$1 == "insert_or_assign" { print $8 - $7 }' over.tsv)" = 0 ]; then pass 'a table that is filled to the last slot'
else fail 'a table that is filled to the last slot' "exit $code, $(head -n 1 err)"; fi

for design in ovs sl; do
  bench --backend ref design=$design near=0.5,1 segment=1024 load=0.5 capacity=4Ki batch=32 calls=2 --repeat 1 -o $design.tsv >out
  code=$?
  if [ $code = 0 ] && ! [ -s err ] && awk -F'\t' -v design=$design '/^#/ { next } /^operation/ { for (c = 1; c <= NF; c++) at[$c] = c; next } { n[$(at["near"])]++; if (!($(at["rate"]) > 0 && $(at["design"]) == design)) exit 1 } END { exit n["1"] < 10 || n["0.5"] != (design == "ovs" ? n["1"] : 0) }' $design.tsv
  then pass "$design: points, near and far"; else fail "$design: points, near and far" "exit $code, $(head -n 1 err)"; fi
  bench --backend ref growth design=$design batch=4Ki capacity=16Ki to=128Ki --repeat 1 >out
  code=$?
  if [ $code = 0 ] && [ "$(grep -c run_growing out)" -ge 2 ]; then pass "$design: growth"; else fail "$design: growth" "exit $code, $(head -n 1 err)"; fi
done
bench --backend ref design=sl successor predecessor capacity=4Ki batch=32 calls=2 --repeat 1 --csv >out
code=$?
if [ $code = 0 ] && [ "$(sed 1d out | wc -l)" = 2 ]; then pass 'points of neighbours'; else fail 'points of neighbours' "exit $code, $(head -n 1 err)"; fi
bench --backend ref design=hive near=0.5 find >out
code=$?
if [ $code = 2 ] && grep -q 'near: all entries of hive are near' err; then pass 'a design without far entries'; else fail 'a design without far entries' "exit $code"; fi

bench 'fill=0.5 hive.find.ref capacity=4Ki batch=64' 'probe=miss fill=0.5 hive.find.ref capacity=4Ki batch=64' $quick >out
code=$?
if [ $code = 0 ] && [ "$(grep -c '^hive\.find\.ref ' out)" = 2 ]; then pass 'cases of another design'; else fail 'cases of another design' "exit $code, $(head -n 1 err)"; fi

bench --backend ref locks capacity=4Ki batch=64 batches=2 --repeat 1 --csv -o locks.csv >out
code=$?
locks=$(sed 1d locks.csv | cut -d, -f1 | sort -u | wc -l)
if [ $code = 0 ] && cmp -s out locks.csv && [ "$locks" = 4 ] && awk -F, 'NF != 10 || (NR > 1 && !($8 > 0)) { exit 1 }' locks.csv; then pass 'locks: every one that keeps apart, on paper and in a file'
else fail 'locks: every one that keeps apart' "exit $code, $locks locks"
fi
bench --backend ref locks capacity=1Ki batch=32 batches=1 --repeat 1 --csv -o locks.tsv >out
if [ "$(tr '\t' ',' <locks.tsv)" = "$(cat out)" ]; then pass 'locks in a TSV'; else fail 'locks in a TSV' "$(head -n 2 locks.tsv)"; fi
bench --backend ref growth capacity=4Ki to=16Ki batch=500,2000 split=0,32 --repeat 1 --csv -o growth.csv >out
code=$?
# Columns: what, arrays, batch, from, to, items, resizes. Two ways to grow per batch size beside the steady table, and
# two sizes of splits with their merges.
if [ $code = 0 ] && cmp -s out growth.csv && [ "$(sed 1d growth.csv | cut -d, -f1 | sort | uniq -c | tr -s ' \n' ' ')" = ' 2 doubling 2 grow 2 growing 4 run_growing 2 shrink 4 steady ' ] &&
  awk -F, 'NR == 1 { next } !($9 > 0) || ($1 ~ /ing$/) != ($11 > 0) || ($1 == "steady") != ($7 == 0) || ($1 == "growing" && !($5 > $4)) { print; bad = 1 } END { exit bad }' growth.csv; then pass 'a table that grows, beside one that has the room'
else fail 'a table that grows, beside one that has the room' "exit $code, $(sed 1d growth.csv | wc -l) rows"
fi
bench --backend ref find dim=8 load=0.5 batch=64 capacity=64Gi calls=1 --repeat 1 >out
code=$?
if [ $code = 4 ] && grep -q 'memory' err; then pass 'nothing that could be measured: exit 4'; else fail 'nothing that could be measured: exit 4' "exit $code"; fi
bench --backend ref limits --csv -o limits.csv >out
if [ -s limits.csv ] && cmp -s out limits.csv; then pass 'limits in a file'; else fail 'limits in a file' 'there is none, or another'; fi
bench --backend cuda limits >out
code=$?
if { [ $code = 0 ] && grep -q 'random reads' out; } || { [ $code = 77 ] && grep -q 'no CUDA device' err && ! [ -s out ]; }; then pass 'a GPU, or exit 77 and why'
else fail 'a GPU, or exit 77 and why' "exit $code"
fi

# ---- Cliffs ----------------------------------------------------------------------------------------------------------

# of FILE.tsv EXPRESSION: its rows for which that is true; columns by their names, as c["name"].
of() {
  awk -F'\t' '/^#/ { next } !n { n = NF; for (i = 1; i <= NF; i++) name[i] = $i; next } { for (i = 1; i <= n; i++) c[name[i]] = $i } '"$2"' { print }' "$1"
}
# Every operation under every policy, in both modes: the rate of every pattern, or why there is none.
bench cliffs capacity=1Ki batch=64 calls=2 --json -o cliffs.tsv >cliffs.json
code=$?
if [ $code = 0 ] && ! [ -s err ]; then pass 'cliffs on a small table'; else fail 'cliffs on a small table' "exit $code: $(head -n 1 err)"; fi
for policy in $("$HEDDLE" list policies --csv | sed 1d | cut -d, -f2 | grep -vx none); do
  for mode in single dual; do
    "$HEDDLE" list operations --csv | grep -v ordered | sed "1d; s/^[^,]*,\([^,]*\).*/$policy $mode \1/"
    echo "$policy $mode touch_values" # a touch that delivers values
  done
done | sort >rows
diff rows <(of cliffs.tsv 1 | cut -f1-3 | tr '\t' ' ' | sort -u) | none 'every operation under every policy, in both modes'
of cliffs.tsv 1 | cut -f1-3 | uniq -c | awk '$1 != 1 && $1 != 18' | none 'each with 18 patterns of keys, or, without keys, one'
of cliffs.tsv 1 | cut -f1-4 | sort | uniq -d | none 'no cell twice'
of cliffs.tsv '(c["items_per_s"] > 0) == (c["why"] != "")' | none 'each cell has a rate, or says why not'
of cliffs.tsv 'c["why"] != "" && c["pattern"] !~ /^(graph|batch32Ki|batch16Mi)$/ && c["operation"] != "promote" && !(c["pattern"] == "batch1Ki" && c["why"] ~ /1024|pinned/) && !(c["pattern"] == "hot1000" && c["why"] ~ /1000/)' |
  none 'what this machine and so small a table cannot do, and nothing else'
of cliffs.tsv 'c["items_per_s"] > 0 && c["load"] < 0.995' | none 'every cell begins with a full table'
of cliffs.tsv 'c["items_per_s"] > 0 && c["pattern"] != "table" && c["batch"] * c["calls"] != c["miss"] + c["hit"] + c["inserted"] + c["updated"] + c["evicted"] + c["refused"] + c["erased"] + c["pinned"]' |
  none 'every timed item has its outcome'
of cliffs.tsv 'c["operation"] ~ /^(find|contains|touch|assign)/ && c["operation"] !~ /insert/ && c["pattern"] ~ /^(hits|hits_u|hot1000|one)$/ && c["items_per_s"] > 0 && c["hit"] + c["updated"] != c["batch"] * c["calls"]' |
  none 'keys of the table are found'
of cliffs.tsv 'c["pattern"] ~ /^(new|new_u|touched)$/ && c["hit"] + c["updated"] + c["erased"] > 0' | none 'new keys are not'
if ! command -v python3 >/dev/null; then skip 'JSON of cliffs' 'no python3'
elif python3 - "$(of cliffs.tsv 1 | wc -l)" >odd 2>err <<'END'
import json, sys
report = json.load(open("cliffs.json"))
assert report["schema"] == "heddle.bench.cliffs/1" and report["zipf_keys"] == 4096, report["schema"]
rows = report["rows"]
assert len(rows) == int(sys.argv[1]), len(rows)
for row in rows:
    assert (row["items_per_s"] is None) == (row["why"] is not None), row
    assert row["items_per_s"] is None or 0 < row["least_per_s"] <= row["items_per_s"] <= row["most_per_s"], row
END
then pass 'JSON of cliffs'
else fail 'JSON of cliffs' "$(tail -n 1 err)"
fi

# Marked are cells below half of the best of their row, and those of batches that pass the limit, which are not the best
# either. A pattern whose keys stay in the cache can be marked, and is not the best. A pattern that is not compared is
# neither. The columns are in another order than the bench writes them.
{
  echo '# commit c'
  printf 'pattern\tpolicy\tmode\toperation\titems_per_s\tbelow\tmore\n'
  for cell in 'new 100 false' 'hits 50 false' 'hits60 49.9 false' 'zipf99 4000 true' 'one 0.5 true' 'batch1 1 false' 'graph' 'new_u 1e9 true' 'hot1000 900 false' 'zipf120 40 false'; do
    # shellcheck disable=SC2086 # words of a cell
    set -- $cell
    printf '%s\tlru\tsingle\ttouch\t%s\t%s\t7\n' "$1" "${2:-}" "${3:-false}"
  done
  printf 'new\tlru\tdual\ttouch\t10\tfalse\t7\nhits\tlru\tdual\ttouch\t4\tfalse\t7\n'
} >given.tsv
bench cliffs from=given.tsv -o marked.tsv >out
code=$?
printf '%s\n' 'new 1 false' 'hits 0.5 false' 'hits60 0.499 true' 'zipf99 40 true' 'one 0.005 true' 'batch1  false' 'graph  false' 'new_u 10000000 true' 'hot1000 9 false' 'zipf120 0.4 true' 'new 1 false' 'hits 0.4 true' |
  diff - <(of marked.tsv 1 | cut -f4,13,14 | tr '\t' ' ') | none 'cells below half of the best of their row are marked, and those that pass the limit'
if [ $code = 0 ] && grep -q '^touch .* <5e-07\* ' out && [ "$(grep -c '^touch ' out)" = 2 ] && grep -q '^6 of 10 cells are marked' out; then pass 'the matrix of a record'
else fail 'the matrix of a record' "exit $code: $(grep '^touch' out)"
fi
# A limit that no call of a whole batch keeps: a smaller batch, once, and marked.
bench cliffs find insert_or_assign policy=lru,custom pattern=hits,one capacity=4Ki batch=1Ki limit=1e-6 -o limited.tsv >out
code=$?
if [ $code = 0 ] && [ "$(of limited.tsv 1 | wc -l)" = 16 ] && [ "$(of limited.tsv 'c["below"] == "true" && c["marked"] == "true" && c["calls"] == 1 && c["batch"] < 1024 && c["items_per_s"] > 0' | wc -l)" = 16 ]; then
  pass 'calls that pass the limit are not made'
else fail 'calls that pass the limit are not made' "exit $code: $(of limited.tsv 1 | head -n 1)"
fi
bench cliffs from="$top_srcdir/bench/results/amd-epyc.tsv" >out
code=$?
if [ $code = 3 ] && grep -q 'no record of cliffs' err; then pass 'a record that is none: exit 3'; else fail 'a record that is none: exit 3' "exit $code"; fi
bench --backend host cliffs touch insert_or_assign policy=lfu mode=dual pattern=hits,zipf99 -o kernels.tsv >out
code=$?
if [ $code = 0 ] && [ "$(of kernels.tsv 'c["items_per_s"] > 0' | wc -l)" = 4 ]; then pass 'cliffs of kernels'; else fail 'cliffs of kernels' "exit $code: $(head -n 1 err)"; fi

if ! command -v python3 >/dev/null; then skip 'the page of cliffs' 'no python3'
else
  cliffs_page() { PYTHONDONTWRITEBYTECODE=1 "$top_srcdir/bench/cliffs.py" "$@"; }
  try 'bench/RESULTS.md says what the kept cliffs say' cliffs_page --check
  mkdir -p kept && cp marked.tsv kept/small.cliffs.tsv && cp "$top_srcdir/bench/RESULTS.md" cliffs.md
  printf '# head\n\nlru - touch hits,hits60: as it must be\nlfu - - -: of none\n' >reasons.txt
  cliffs_page --gpu small --results kept --reasons reasons.txt --page cliffs.md
  {
    sed -n '/<!-- cliffs -->/,/<!-- end -->/p' cliffs.md >section
    for text in '6 of 10 cells are marked' '| lru | single | 0 of 1 |' '| lru | dual | 0 of 1 | 1 of 1 |' '2 cells (lru - touch hits,hits60): as it must be' \
      '4 marked cells have no reason yet'; do
      grep -qF -- "$text" section || echo "the page lacks: $text"
    done
    grep 'of none' section
  } | none 'the page counts marked cells, and has their reasons'
  mkdir -p few && cliffs_page --reduce --gpu small --results kept >few/small.cliffs.tsv
  try 'what is kept of cliffs makes the same page' cliffs_page --gpu small --results few --reasons reasons.txt --page cliffs.md --check
fi

# ---- Rows that explain themselves ------------------------------------------------------------------------------------

kept=$top_srcdir/bench/results
short=$(awk -F'\t' '/^#/ || /^operation/ { next } $14 > 0 && $11 < $14 { n++ } END { print n + 0 }' "$kept/nvidia-h200.tsv")
bench --short "$kept/nvidia-h200.tsv" >out
code=$?
if [ $code = 0 ] && [ "$(grep -c ' short, ' out)" = "$short" ] && [ "$(grep -c 'bound by' out)" = "$short" ]; then pass "the $short rows that are short of their goals, each with its bound"
else fail "the $short rows that are short of their goals" "exit $code, $(grep -c ' short, ' out) lines"
fi
counted=$(awk -F'\t' 'FNR == NR { if (!/^#/) seen[$1, $2, $3, $4, $5, $6, $7, $8] = 1; next } /^#/ || /^operation/ { next } $14 > 0 && $11 < $14 && seen[$1, $2, $3, $4, $5, $6, $7, $8] { n++ }
  END { print n + 0 }' "$kept/nvidia-h200.counters.tsv" "$kept/nvidia-h200.tsv")
if [ "$counted" -gt 0 ] && [ "$(grep -c 'bound by .* (l2 [0-9.]*, dram' out)" = "$counted" ]; then pass "$counted of them with what was counted"
else fail "$counted of them with what was counted" "$(grep -c 'bound by .* (l2' out)"
fi
grep -v '^#' "$kept/nvidia-h200.counters.tsv" | cut -f1-10 | sort | uniq -d | none 'no point was counted twice'
{ # of each operation that is short, its own lines and no others
  while read -r operation rest; do
    case $operation in '#'* | '' | *.*) continue ;; esac
    text=${rest#*: }
    awk -v op="$operation" -v text="  tried: $text" '/^[a-z]/ && / short, / { now = $1; sub(/,$/, "", now) } $0 == text && now != op { print now ": " text }' out
  done <"$top_srcdir/bench/lab/tried.txt"
  awk '/ short, / { sub(/,$/, "", $1); op = $1; short[op] = 1 } /^  tried: / { tried[op] = 1 } END { for (op in short) if (!tried[op]) print "nothing was tried for " op }' out
} | none 'what was tried stands under its operation, and something was for each'
sed -e 's/^\(find\t1\t1\t8\t0.5\t.*\tcoalesced\t\)[0-9.]*/\199.5/' "$kept/nvidia-h200.tsv" >fast.tsv
bench --short fast.tsv >out
if ! grep -q '^find, hits 1, one bucket, dim 8, load 0.5' out && [ "$(grep -c ' short, ' out)" = $((short - 1)) ]; then pass 'a row that meets its goal is not among them'
else fail 'a row that meets its goal is not among them' "$(grep -c ' short, ' out)"
fi
bench --short "$kept/amd-epyc.tsv" >out
code=$?
if [ $code = 3 ] && grep -q 'no table of points' err; then pass 'a table of something else: exit 3'; else fail 'a table of something else: exit 3' "exit $code"; fi

if ! command -v python3 >/dev/null; then skip 'pages and counters' 'no python3'
else
  page() { PYTHONDONTWRITEBYTECODE=1 "$top_srcdir/bench/rows.py" "$@"; }
  try 'bench/RESULTS.md says what the kept results say' page --check
  mkdir -p other && cp fast.tsv other/nvidia-h200.tsv
  if page --check --results other >words 2>&1; then fail 'other results make another page'; else pass 'other results make another page'; fi
  cp "$top_srcdir/bench/RESULTS.md" page.md
  { page --results other --page page.md 2>&1; sed -n '/<!-- rows -->/,/<!-- end -->/p' page.md | grep -c 'not counted yet' >/dev/null
    grep -q "$((96 - short + 1)) of 96 goals are met" page.md || grep -m1 'goals are met' page.md; } | none 'and count its goals'

  # Made-up output of the profiler: a limit, which reaches 0.6 of the L2's bandwidth; two points, the first with one
  # kernel, the second with two, of 1 and 3 us; a row of units, and other lines.
  {
    echo '# heddle bench --backend cuda mode=watch'
    echo '# limit read_32 4e+10 /s: random reads'
    printf 'operation\thits\tbuckets\tdim\tload\tkeys\tbatch\tcapacity\tlayout\tvariant\tfloor\n'
    printf 'find\t1\t1\t8\t0.5\tuniform\t1000\t4096\tpairs\tcoalesced\t1\nexport\t1\t1\t8\t0.5\tuniform\t1000\t4096\tpairs\twarp\t0.5\n'
  } >watched.tsv
  cat >ncu.csv <<'END'
==PROF== Connected to process 7
"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","lts__throughput.avg.pct_of_peak_sustained_elapsed","dram__throughput.avg.pct_of_peak_sustained_elapsed","l1tex__throughput.avg.pct_of_peak_sustained_active","sm__inst_issued.avg.pct_of_peak_sustained_active","sm__warps_active.avg.pct_of_peak_sustained_active","smsp__thread_inst_executed_per_inst_executed.ratio","smsp__average_warp_latency_per_inst_issued.ratio","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__inst_executed.sum","lts__t_sectors.sum","dram__sectors_read.sum","dram__sectors_write.sum"
"","","","","ns","%","%","%","%","%","","","","inst","sector","sector","sector"
"1","point_kernel()","(32, 1, 1)","(4096, 1, 1)","900","0","0","0","0","0","32","1","0","10","0","0","0"
"1","read_kernel","(128, 1, 1)","(990, 1, 1)","2,000","52","95","20","30","40","24","10","8","3,000","5,000","4,000","1,000"
"1","point_kernel()","(32, 1, 1)","(1, 1, 1)","900","0","0","0","0","0","32","1","0","10","0","0","0"
"1","find_kernel","(128, 1, 1)","(990, 1, 1)","2,000","50","88","20","30","40","24","10","8","3,000","5,000","4,000","1,000"
"2","point_kernel()","(32, 1, 1)","(2, 1, 1)","900","0","0","0","0","0","32","1","0","10","0","0","0"
"3","sum_kernel","(128, 1, 1)","(990, 1, 1)","1,000","10","20","20","30","40","32","10","2","1,000","1,000","500","500"
"4","list_kernel","(128, 1, 1)","(990, 1, 1)","3,000","50","60","20","70","80","16","10","6","2,000","1,000","500","500"
END
  PYTHONDONTWRITEBYTECODE=1 "$top_srcdir/bench/counters.py" --head 'commit c' watched.tsv ncu.csv >counters.tsv 2>err
  {
    printf 'find\t1\t1\t8\t0.5\tuniform\t1000\t4096\tpairs\tcoalesced\t1\t2\t0.500\t0.880\t0.200\t0.300\t0.500\t0.400\t24\t0.800\t3\t5\t5\tl2\n'
    printf 'export\t1\t1\t8\t0.5\tuniform\t1000\t4096\tpairs\twarp\t2\t4\t0.400\t0.500\t0.200\t0.600\t0.500\t0.700\t20\t0.500\t3\t2\t2\tlatency\n'
  } | diff - <(grep -v '^#' counters.tsv | sed 1d) 2>&1 | none 'counters go to their points: sums added, shares by time, the nearest ceiling'
  sed '/point_kernel/d' ncu.csv >none.csv
  if PYTHONDONTWRITEBYTECODE=1 "$top_srcdir/bench/counters.py" watched.tsv none.csv >counters.tsv 2>err; then fail 'kernels of no point are told'; else pass 'kernels of no point are told'; fi
fi

# ---- Mistakes --------------------------------------------------------------------------------------------------------

# bad NAME PATTERN ARGUMENT...
bad() {
  local name=$1 pattern=$2 code
  shift 2
  bench "$@" >out
  code=$?
  if [ $code = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$pattern" err && ! [ -s out ]; then pass "$name: exit 2"; else fail "$name: exit 2" "exit $code"; fi
}
bad 'growth of another word' 'nearest: batch' --backend ref growth batchs=3
bad 'growth of a cache' 'do not grow in place' --backend ref growth design=hkv
bad 'growth to less' 'begins with as many' --backend ref growth capacity=4Ki to=1Ki
bad 'locks of another word' 'nearest: batch' --backend ref locks batchs=3
bad 'no such pattern of cliffs'   'nearest: zipf99'  cliffs pattern=zipf9
bad 'no such policy of cliffs'    'nearest: lfu'     cliffs policy=lfv
bad 'no such mode of cliffs'      'nearest: dual'    cliffs mode=duel
bad 'cliffs of no operation'      'nearest: touch'   cliffs tuch
bad 'cliffs of another word'      'nearest: pattern' cliffs patern=new
bad 'cliffs of an empty list'     'no policy'        cliffs policy=
bad 'a record that is not there'  'absent'           cliffs from=absent.tsv
bad 'a batch of more keys than the table has' 'different keys' --backend ref locks capacity=1Ki batch=2Ki batches=1 --repeat 1
bad 'a list of nothing'         'dim=: it is empty' --backend ref find dim=
bad 'no such suite'             'nearest: ops'      op
bad 'no such case of a suite'   'no case'           ops.fnd
bad 'no such operation'         'nearest: find'     hkv.fnd.ref
bad 'several operations'        'several'           hkv.mix.ref
bad 'a probe that is none'      'hit, miss, new'    'probe=hits hkv.find.ref'
bad 'a miss that would insert'  'say new'           'probe=miss hkv.insert_or_assign.ref'
bad 'a hit in an empty table'   'empty'             'fill=0 hkv.find.ref'
bad 'no repetition'             '--repeat'          ops --repeat 0
bad 'a file that is not there'  'absent'            absent.txt
bad 'no such backend'           'nearest: cuda'     --backend cud
bad 'not a point'               'nearest: find'     --backend ref fnd
bad 'no such axis'              'nearest: dim'      --backend ref dims=8
bad 'no such design'            'nearest: hkv'      --backend ref design=hkw
bad 'an operation of no design'   'mixed is not measured on the design hkv' --backend ref mixed
bad 'an operation of another design' 'insert_and_evict is not'   --backend ref insert_and_evict design=hive
bad 'a share beyond 1'          'hits'              --backend ref hits=1.5
bad 'no such mode'              'queue, wall'       --backend ref mode=que

# ---- kmer.sh: other counters of k-mers, here ones that answer with a file --------------------------------------------

"$HEDDLE" gen genome --bases 20k -o counted.fa >/dev/null
"$HEDDLE" kmer counted.fa 9 --histogram --csv | awk -F, 'NR > 1 { print $1, $2 }' >answer
mkdir -p counters && for tool in awk bash cat cmp cut date diff dirname grep head mkdir mktemp nproc rm sed sort tail tr wc; do
  ln -sf "$(command -v $tool)" counters/$tool
done
kmers() { PATH=$PWD/counters ROUNDS=2 THREADS=1 bash "$top_srcdir/bench/kmer.sh" "$@" >out 2>err; }
if kmers run "$HEDDLE" counted.fa 9 alone.tsv && [ "$(grep -c '^heddle' alone.tsv)" = 2 ] && [ "$(grep -c 'not installed' err)" = 2 ]; then
  pass 'kmer.sh without other counters'
else fail 'kmer.sh without other counters' "$(cat err)"; fi
printf '#!/usr/bin/env bash\n[ "$1" != --version ] || echo jellyfish 2.3.0\n[ "$1" != histo ] || cat answer\n' >counters/jellyfish
chmod +x counters/jellyfish
if kmers run "$HEDDLE" counted.fa 9 both.tsv && [ "$(grep -c '^jellyfish' both.tsv)" = 2 ]; then pass 'a counter that agrees'
else fail 'a counter that agrees' "$(cat err)"; fi
if kmers table both.tsv && [ "$(grep -cE '^\| (heddle|jellyfish) [0-9.]+ \| ' out)" = 2 ]; then pass 'a table of both'; else fail 'a table of both' "$(cat out err)"; fi
sed -i '1s/$/0/' answer
kmers run "$HEDDLE" counted.fa 9 both.tsv
code=$?
if [ $code = 1 ] && grep -q 'heddle and jellyfish differ' err; then pass 'a counter that does not agree'; else fail 'a counter that does not agree' "exit code $code: $(cat err)"; fi

finish
