# SPDX-License-Identifier: Apache-2.0
#
# t_plot.sh - tests of `heddle plot` and of every verb that draws: plot_check.py compares pictures with charts and
# reports, and notices a picture that is changed; charts that say nothing sensible are refused, each with its sentence.
# With Chromium, tests/pages/check_plot.py looks at the same pictures.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
python=$(command -v python3) || { echo "1..0 # SKIP python3 is missing"; exit 77; }
heddle() { "$HEDDLE" "$@"; }
check() { PYTHONDONTWRITEBYTECODE=1 "$python" "$top_srcdir/tests/plot_check.py" "$@"; }
cd "$work" || exit 1

# ---- What the command draws ------------------------------------------------------------------------------------------

# drawn NAME COMMAND...: the report by --json, drawn by `heddle plot`, twice as wide and narrow, and compared.
drawn() {
  local name=$1
  shift
  { heddle "$@" --json >"$name.json" || echo "exit code $?"
    heddle plot "$name.json" --json >"$name.chart" && heddle plot "$name.json" -o "$name.svg" && check "$name.svg" "$name.chart" "$name.json"
    heddle plot "$name.chart" --width 340 -o "$name.narrow.svg" && check "$name.narrow.svg" "$name.chart"; } 2>&1 | none "heddle $*"
}
drawn sweep sweep zipf:0.99,2000 --requests 50k -p lru,lfu,fifo --sizes 1%,10%,50%
drawn seeds sweep zipf:0.99,2000 --requests 20k -p lru,lfu --sizes 5%,20% --seeds 3
drawn windows sweep zipf:0.99,2000 --requests 20k -p lru,lfu --sizes 1%,10% --every 1000
drawn exact sweep zipf:0.99,500 --requests 5k -p lru,lfu,fifo,full:lru,full:lfu,full:fifo,epoch_lru,epoch_lfu,full:clock --sizes 10%,50%
drawn curve curve zipf:0.8,20k --requests 50k -p full:lru,full:sieve --sizes 10%,100% --points 9 --sample 4Ki
drawn fill sweep --load-factors 0.5,1,2 --capacity 8Ki --dual
drawn run run hkv.serve.ref policy=lfu capacity=4Ki keys=zipf:0.99,16Ki batch=1024x64
drawn kernels run --kernels hkv.mix.ref capacity=4Ki keys=zipf:0.99,16Ki batch=256x64
drawn bench bench 'hkv.find.ref capacity=16Ki batch=4096' 'hkv.erase.ref capacity=16Ki batch=4096' --repeat 3 --min-time 0.001
drawn points bench --backend ref find erase capacity=16Ki batch=512 dim=8 load=0.5 --repeat 2
drawn growth bench --backend ref growth capacity=4Ki to=32Ki batch=1Ki --repeat 1
drawn locks bench --backend ref locks capacity=4Ki batch=64 batches=2 --repeat 1

{ heddle sweep zipf:0.99,2000 --requests 50k -p lru,lfu,fifo --sizes 1%,10%,50% --plot by.svg >/dev/null && cmp by.svg sweep.svg; } 2>&1 |
  none "sweep --plot draws the same picture"
{ heddle run hkv.serve.ref policy=lfu capacity=4Ki keys=zipf:0.99,16Ki batch=1024x64 --plot by.svg >/dev/null && cmp by.svg run.svg; } 2>&1 |
  none "run --plot draws the same picture"
{ heddle run --kernels hkv.mix.ref capacity=4Ki keys=zipf:0.99,16Ki batch=256x64 --plot by.svg >/dev/null && cmp by.svg kernels.svg; } 2>&1 |
  none "run --kernels --plot draws the same picture"
{ heddle bench 'hkv.find.ref capacity=16Ki batch=4096' --repeat 2 --min-time 0.001 -o by.svg -o by.json >/dev/null
  heddle plot by.json --json >by.chart && check by.svg by.chart by.json && heddle plot by.json | cmp - by.svg; } 2>&1 |
  none "bench -o FILE.svg draws what -o FILE.json has"
{ gzip -k sweep.json && heddle plot sweep.json.gz | cmp - sweep.svg && heddle plot <sweep.json | cmp - sweep.svg && heddle plot - <sweep.chart | cmp - sweep.svg; } 2>&1 |
  none "a report may be compressed, or come by standard input"

least() { "$python" -c 'import json, sys; y = json.load(open(sys.argv[1]))["panels"][0]["y"]; print(y.get("least"), y["label"])' "$1"; }
{ heddle plot sweep.json --fit --json >fit.chart && heddle plot sweep.json --fit -o fit.svg && check fit.svg fit.chart
  [[ $(least sweep.chart) = "None "* ]] || echo "without --fit: $(least sweep.chart)"
  [[ $(least fit.chart) = 0.[1-9]*"not begin at 0"* ]] || echo "with --fit: $(least fit.chart)"
  heddle plot bench.json --json | cmp - <(heddle plot bench.json --fit --json); } 2>&1 | none "--fit: lines begin near the least value, and say so; bars begin at 0"

# ---- Charts of every kind --------------------------------------------------------------------------------------------

cat >kinds.chart <<'END'
{"schema": "heddle.chart/1", "title": "Kinds <of> \"charts\" & more", "below": "below", "source": "a source", "columns": 2, "panels": [
  {"kind": "stacks", "title": "stacks", "groups": ["a group & more", "b"], "y": {"label": "things", "format": "count"},
   "series": [{"name": "one", "values": [30, 20]}, {"name": "two", "values": [40, 0]}, {"name": "three", "values": [25, null]}]},
  {"kind": "lines", "title": "lines", "x": {"label": "x", "scale": "log", "format": "count"}, "y": {"label": "y", "scale": "log", "least": 0.5, "most": 8, "ticks": [0.5, 1, 2, 4, 8]},
   "series": [{"name": "band", "points": [[1, 1, 0.6, 2], [1000, 2, 1, 4], [1000000, 4, 2, 8]]}, {"name": "loose", "line": false, "points": [[10, 1.5], [100, 3]]}]},
  {"kind": "bars", "title": "bars", "groups": ["a name that is far too long to stand beside a bar of this narrow panel", "b"], "y": {"label": "rate", "format": "rate"},
   "series": [{"name": "measured", "values": [[2500000, 2400000, 2600000], 1250000]}, {"name": "goal", "values": [2000000, null]}]}]}
END
{ heddle plot kinds.chart -o kinds.svg && check kinds.svg kinds.chart && heddle plot kinds.chart --width 280 -o kinds.narrow.svg && check kinds.narrow.svg kinds.chart
  heddle plot kinds.chart --json | diff - <("$python" -m json.tool --no-ensure-ascii kinds.chart) | head -n 1 | grep -v '^[0-9,]*[acd][0-9,]*$'; } 2>&1 | none "stacks, lines, bars; ranges, logarithms, missing values"

# ---- The check notices -----------------------------------------------------------------------------------------------

# broken NAME EXPRESSION: a picture that sed changes must not pass.
broken() {
  sed -E "$2" sweep.svg >broken.svg
  if cmp -s sweep.svg broken.svg; then echo "$1: nothing was changed"
  elif check broken.svg sweep.chart >/dev/null 2>&1; then echo "$1: was not noticed"
  fi
}
{ broken 'a value' 's/(<title>lru: 0\.)[0-9]/\19/'
  broken 'a place' 's/(class="mark c0" transform="translate\([0-9.]* )[0-9.]+/\1100.0/'
  broken 'a name' 's/>lfu</>lfv</'
  broken 'a label' 's/>miss ratio</>hit ratio</'
  broken 'a dash' 's/stroke-dasharray="7 3"/stroke-dasharray=""/; s/M-3.6,-3.6h7.2v7.2h-7.2z/M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z/'
  broken 'a colour' 's/(\.c2\{stroke:#[0-9a-f]*;fill:)#00805c/\1#b0e0d0/'
  broken 'a ground' 's/#14181f/#ffffff/g'
  broken 'a title' 's/<title>Miss[^<]*</<title></'
  broken 'a picture from elsewhere' 's/<rect class="ground"/<image href="https:\/\/example.org\/a.png"\/><rect class="ground"/'
} | none "nine changes of a picture are noticed"
sed 's/"misses": /"misses": 1/; s/\("miss_ratio": 0\.\)./\15/' sweep.json >other.json
{ check sweep.svg sweep.chart other.json >/dev/null && echo "not noticed"; } | none "a picture of another report is noticed"

# ---- What is no chart ------------------------------------------------------------------------------------------------

# refused CODE WORDS CHART: one line on standard error that has the words.
refused() {
  printf '%s' "$3" >bad.chart
  heddle plot bad.chart -o bad.svg >out 2>err
  local code=$?
  [ $code = "$1" ] && [ "$(wc -l <err)" = 1 ] && grep -qE "$2" err && [ ! -e bad.svg ] && [ ! -s out ] || { echo "$3: exit code $code"; cat err; }
}
one() { printf '{"schema": "heddle.chart/1", "title": "t", "panels": [%s]}' "$1"; }
lines() { one "{\"kind\": \"lines\", \"x\": {\"label\": \"x\"}, \"y\": {\"label\": \"y\"}, \"series\": [$1]}"; }
{ refused 3 'no JSON' '{'
  refused 3 'no JSON' ''
  refused 3 'no member schema' '[]'
  refused 3 'no plot of heddle.list/1.*heddle.sweep/1' '{"schema": "heddle.list/1"}'
  refused 3 'no rows' '{"schema": "heddle.sweep/1", "rows": []}'
  refused 3 'no title' '{"schema": "heddle.chart/1", "panels": []}'
  refused 3 'panels' '{"schema": "heddle.chart/1", "title": "t", "panels": []}'
  refused 3 'columns' '{"schema": "heddle.chart/1", "title": "t", "columns": 0, "panels": [{}]}'
  refused 3 'panel 1: kind' "$(one '{}')"
  refused 3 'panel 1: series' "$(lines '')"
  refused 3 'series 1: it has no name' "$(lines '{"points": [[1, 2]]}')"
  refused 3 'no points' "$(lines '{"name": "a"}')"
  refused 3 'a point is' "$(lines '{"name": "a", "points": [[1, 2, 3]]}')"
  refused 3 'no numbers' "$(lines '{"name": "a", "points": [[1, "2"]]}')"
  refused 3 'no numbers' "$(lines '{"name": "a", "points": [[1, 1e300]]}')"
  refused 3 'go back' "$(lines '{"name": "a", "points": [[2, 2], [1, 1]]}')"
  refused 3 'line is' "$(lines '{"name": "a", "line": 1, "points": [[2, 2]]}')"
  refused 3 'logarithmic' "$(one '{"kind": "lines", "x": {"scale": "log"}, "y": {}, "series": [{"name": "a", "points": [[0, 1]]}]}')"
  refused 3 'logarithmic' "$(one '{"kind": "lines", "y": {"scale": "log", "ticks": [0]}, "series": [{"name": "a", "points": [[1, 1]]}]}')"
  refused 3 'ascend' "$(one '{"kind": "lines", "y": {"ticks": [2, 1]}, "series": [{"name": "a", "points": [[1, 1]]}]}')"
  refused 3 'format is one of' "$(one '{"kind": "lines", "y": {"format": "hex"}, "series": [{"name": "a", "points": [[1, 1]]}]}')"
  refused 3 'scale is one of' "$(one '{"kind": "lines", "y": {"scale": "root"}, "series": [{"name": "a", "points": [[1, 1]]}]}')"
  refused 3 'least is not below' "$(one '{"kind": "lines", "y": {"least": 2, "most": 2}, "series": [{"name": "a", "points": [[1, 1]]}]}')"
  refused 3 'groups' "$(one '{"kind": "bars", "series": [{"name": "a", "values": [1]}]}')"
  refused 3 'for each group' "$(one '{"kind": "bars", "groups": ["g"], "series": [{"name": "a", "values": [1, 2]}]}')"
  refused 3 'from 0 on' "$(one '{"kind": "bars", "groups": ["g"], "series": [{"name": "a", "values": [-1]}]}')"
  refused 3 'a value is' "$(one '{"kind": "bars", "groups": ["g"], "series": [{"name": "a", "values": [[1, 2]]}]}')"
  refused 3 'lines have no groups' "$(one '{"kind": "lines", "groups": ["g"], "series": [{"name": "a", "points": [[1, 1]]}]}')"
} 2>&1 | none "28 charts that are none are refused, each with its sentence"

charts=${HEDDLE_TEST_LONG:+400}
{ charts=${charts:-100} "$python" - <<'END'
import json, os, random
random.seed(1)
odd = [0, -1, 1e18, -1e18, 1e-300, 5e-324, 1, 3, None, "", "x", [], {}, True, 1e17 + 1]
def value(depth=0):
    return random.choice(odd) if depth > 2 or random.random() < 0.5 else [value(depth + 1) for _ in range(random.randrange(4))]
def axis():
    return {k: v for k, v in {"label": random.choice(["l", None]), "scale": random.choice(["log", "linear", 1]), "format": random.choice(["count", "percent", "rate", "plain"]),
            "least": random.choice(odd), "most": random.choice(odd), "ticks": random.choice([[1, 2], [], value()])}.items() if random.random() < 0.1}
for i in range(int(os.environ["charts"])):
    kind = random.choice(["lines", "steps", "bars", "stacks"])
    groups = ["g"] * random.randrange(1, 3)
    series = [{"name": "n\x01\ud7ff" * random.randrange(1, 30), "points": sorted([[random.choice([1, 1e18, 1e-300, 2, 1e17]), random.choice([1, 0, -1e18, 1e18, 5e-324])] for _ in range(random.randrange(1, 4))]),
               "values": [random.choice([0, 1, 1e18, 5e-324, None, [1, 0, 1e18]]) for _ in groups]} for _ in range(random.randrange(1, 49))]
    panel = {"kind": kind, "x": axis(), "y": axis(), "series": series}
    if kind in ("bars", "stacks"): panel["groups"] = groups
    if random.random() < 0.2: panel[random.choice(list(panel))] = value()
    json.dump({"schema": "heddle.chart/1", "title": "t" * random.choice([1, 500]), "panels": [panel]}, open(f"odd{i}.chart", "w"))
END
  made=0
  for chart in odd*.chart; do
    heddle plot "$chart" -o odd.svg 2>err
    case $? in
      0) made=$((made + 1)); "$python" -c 'import sys, xml.etree.ElementTree as t; d = open("odd.svg", encoding="utf-8").read(); t.fromstring(d); sys.exit("nan" in d or "inf" in d)' || echo "$chart: no XML, or no numbers" ;;
      3) [ "$(wc -l <err)" = 1 ] || cat err ;;
      *) echo "$chart: exit code $?"; cat err ;;
    esac
  done
  [ $made -gt 25 ] || echo "only $made were drawn"
} 2>&1 | none "${charts:-100} odd charts are drawn or refused"

{ "$python" - <<'END'
import json, os, random, subprocess
random.seed(3)
odd = [None, -1, 1e308, "x", [], {}, True, 2**63 - 1, -(2**63), "\u0000", 0]
schemas = ["heddle.run/1", "heddle.sweep/1", "heddle.fill/1", "heddle.bench/1", "heddle.bench.locks/1", "heddle.bench.growth/1"]
def damage(v):
    if not v or not isinstance(v, (dict, list)): return
    k = random.choice(list(v)) if isinstance(v, dict) else random.randrange(len(v))
    if random.random() < 0.4: v[k] = random.choice(odd)
    elif random.random() < 0.2: del v[k]
    else: damage(v[k])
codes = []
for i in range(300):
    r = json.load(open(random.choice(["sweep.json", "kernels.json", "run.json", "windows.json", "growth.json"])))
    for _ in range(random.randrange(1, 6)): damage(r)
    if random.random() < 0.4: r["schema"] = random.choice(schemas)
    if random.random() < 0.3: r["benchmarks"] = r.get("rows")
    json.dump(r, open("damaged.json", "w"))
    p = subprocess.run([os.environ["HEDDLE"], "plot", "damaged.json", "-o", "damaged.svg"], capture_output=True, text=True)
    codes.append(p.returncode)
    if p.returncode not in (0, 3) or (p.returncode == 3 and p.stderr.count("\n") != 1): print(i, p.returncode, p.stderr)
if codes.count(0) < 50 or codes.count(3) < 50: print(codes.count(0), codes.count(3))
END
} 2>&1 | none "300 damaged reports are drawn or refused"

# ---- In a browser ----------------------------------------------------------------------------------------------------

if ! browser=$(command -v "${CHROMIUM:-chromium}"); then skip "pictures in a browser" "Chromium is not installed (Debian: apt install chromium)"
else
  mkdir look && cp sweep.svg seeds.svg windows.svg fill.svg run.svg kernels.svg bench.svg points.svg growth.svg locks.svg kinds.svg \
    sweep.narrow.svg fill.narrow.svg kernels.narrow.svg points.narrow.svg kinds.narrow.svg "$top_srcdir"/papers/hkv/plots/*.svg "$top_srcdir"/papers/hive/plots/collisions.svg "$top_srcdir/doc/img/speed.svg" look
  CHROMIUM=$browser PYTHONDONTWRITEBYTECODE=1 "$python" "$top_srcdir/tests/pages/run.py" look plot >seen 2>&1
  grep -v '^ok\|^1\.\.' seen | none "in Chromium no text is cut off or covers other text, in light and dark"
  grep -q '^ok 1' seen || fail "Chromium looked" "$(cat seen)"
fi
finish
