# SPDX-License-Identifier: Apache-2.0
#
# t_trace_cli.sh - gen, trace convert, trace stat and trace print agree with each other and with awk: each reads what
# another wrote, in every format and compression. What sim and sweep report of traces: exact caches, sizes, windows,
# outcomes, seeds, thresholds; public formats, headers, and what was left out.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$work" || exit 1
words=$work/err
# same NAME WANT GOT
same() { if [ -n "$2" ] && [ "$2" = "$3" ]; then pass "$1: $2"; else fail "$1" "want $2, got $3"; fi; }
heddle() { guard "$HEDDLE" "$@" 2>err </dev/null; }
fact() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "${2:-out}"; }
# stat FILE FORMAT: into out.
stat() { heddle trace stat "$1" "$2" --json >out; }

# ---- Round trips -----------------------------------------------------------------------------------------------------

requests=20000
heddle gen zipf:0.9,3000 --requests $requests --seed 5 >keys.txt
same 'gen to standard output: one key a line' $requests "$(grep -cE '^[0-9]+$' keys.txt)"
heddle gen zipf:0.9,3000 --requests $requests --seed 5 >again.txt
if cmp -s keys.txt again.txt; then pass 'the same seed, the same requests'; else fail 'the same seed, the same requests' 'they differ'; fi
heddle gen zipf:0.9,3000 --requests $requests --seed 6 >other.txt
if cmp -s keys.txt other.txt; then fail 'another seed, other requests' 'they are the same'; else pass 'another seed, other requests'; fi
distinct=$(sort -u keys.txt | wc -l)

# From txt through each format and back: the same keys in the same order.
for format in oracleGeneral csv txt vscsi1 vscsi2; do
  for ending in '' .zst .gz; do
    file=through.$format$ending reader=${format%[12]}
    if heddle trace convert keys.txt txt "$file" $format >out &&
      heddle trace convert "$file" $reader back.txt txt >out && cmp -s keys.txt back.txt; then pass "txt to $format$ending and back"
    else fail "txt to $format$ending and back" "$(head -n 3 back.txt 2>/dev/null)"
    fi
    stat "$file" $reader
    same "stat of $file" "$requests $distinct" "$(fact requests) $(fact distinct)"
    rm -f back.txt
  done
done
heddle gen zipf:0.9,3000 --requests $requests --seed 5 -o direct.oracleGeneral >out
if cmp -s direct.oracleGeneral through.oracleGeneral; then pass 'gen to a file is gen and convert'; else fail 'gen to a file is gen and convert' 'they differ'; fi
heddle gen zipf:0.9,3000 --requests $requests --seed 5 -o direct.bin --format csv >out
heddle trace convert direct.bin csv - txt >back.txt
if cmp -s keys.txt back.txt; then pass '--format, whatever the ending'; else fail '--format, whatever the ending' 'the keys differ'; fi

# ---- stat against awk ------------------------------------------------------------------------------------------------

stat keys.txt txt
same 'keys that came once'  "$(sort keys.txt | uniq -u | wc -l)" "$(fact once)"
same 'the top key'          "$(sort keys.txt | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')" "$(fact most)"
same 'the top tenth of keys' \
  "$(sort keys.txt | uniq -c | sort -rn | awk -v n=$((distinct / 10)) -v all=$requests 'NR <= n { s += $1 } END { printf "%.6f", s / all }')" \
  "$(printf %.6f "$(fact top_10_percent_share)")"
# a trace with sizes and times: footprint is each key's size when it first came
printf 'time,key,size\n' >sized.csv
awk -v OFS=, 'BEGIN { x = 1; for (i = 0; i < 5000; i++) { x = x * 16807 % 2147483647; k = int(x / 65536) % 700; print 1000 + i, k, 1 + (i + k) % 500 } }' >>sized.csv
heddle trace stat sized.csv csv --json >out
same 'bytes, footprint and time' \
  "$(awk -F, 'NR > 1 { b += $3; if (!seen[$2]++) f += $3; t = $1 } END { print b, f, t - 1000 }' sized.csv)" \
  "$(fact requested_bytes) $(fact footprint_bytes) $(fact time_span)"
# the exponent that made a trace comes back, to a hundredth or two
for exponent in 0.7 1.0 1.3; do
  heddle gen zipf:$exponent,5000 --requests 400k -o zipf.txt >out
  stat zipf.txt txt
  if awk -v want=$exponent -v got="$(fact zipf_exponent)" -v gap="$(fact zipf_gap)" 'BEGIN { d = got - want; exit !(d < 0.03 && d > -0.03 && gap < 0.02) }'; then
    pass "a Zipf law of $exponent is found: $(fact zipf_exponent)"
  else fail "a Zipf law of $exponent is found" "$(fact zipf_exponent), gap $(fact zipf_gap)"
  fi
done
heddle gen uniform:1000000 --requests 1000 -o rare.txt >out
stat rare.txt txt
same 'no exponent where keys hardly repeat' null "$(fact zipf_exponent)"
# the three keys that no table holds are counted too
printf '%s\n' 1 18446744073709551615 2 18446744073709551615 18446744073709551613 1 >reserved.txt
stat reserved.txt txt
same 'reserved keys are keys of a trace' '6 4 2' "$(fact requests) $(fact distinct) $(fact once)"
# stat counts while its table grows: more keys than it begins with
heddle gen uniform:10M --requests 300k -o many.txt >out
stat many.txt txt
same 'more keys than the table begins with' "$(sort -u many.txt | wc -l) true" "$(fact distinct) $(fact exact)"

# ---- print, limits ---------------------------------------------------------------------------------------------------

heddle trace print direct.oracleGeneral oracleGeneral --skip 100 --limit 50 --csv >out
same 'print --skip --limit, by their checksum' "$(sed -n '101,150p' keys.txt | cksum)" "$(awk -F, 'NR > 1 { print $3 }' out | cksum)"
same 'print numbers requests from 1' '101 150' "$(awk -F, 'NR == 2 { a = $1 } END { print a, $1 }' out)"
# next: the number of the request where the key comes again
heddle trace print direct.oracleGeneral oracleGeneral --limit 1000 --csv >out
if awk -F, 'NR == FNR { key[++n] = $1; next } FNR > 1 && $5 != "none" { c++; if (key[$5] != $3 || $5 <= $1) bad = 1 } END { exit bad || !c }' keys.txt out; then
  pass 'next is where the key comes again'
else fail 'next is where the key comes again' "$(head -n 3 out)"
fi
heddle trace convert keys.txt txt - txt --limit 7 >out
if cmp -s out <(head -n 7 keys.txt); then pass 'convert --limit'; else fail 'convert --limit' "$(wc -l <out) lines"; fi
heddle trace stat keys.txt txt --limit 5 --json >out
same 'stat --limit' "5 $(head -n 5 keys.txt | sort -u | wc -l)" "$(fact requests) $(fact distinct)"

# ---- Mistakes --------------------------------------------------------------------------------------------------------

# bad NAME CODE PATTERN ARGUMENT...
bad() {
  local name=$1 want=$2 pattern=$3 code
  shift 3
  heddle "$@" >out
  code=$?
  if [ $code = "$want" ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$pattern" err && ! [ -s out ]; then pass "$name: exit $want"
  else fail "$name: exit $want" "exit $code"
  fi
}
head -c 1000 direct.oracleGeneral >short
printf 'key\n1\nx y,2,3\n' >bad.csv
bad 'gen without an end'       2 '--requests'         gen uniform:5
bad 'gen of nothing known'     2 'nearest: zipf'      gen zpf:1,10 --requests 5
bad 'an ending without format' 2 '--format'           gen uniform:5 --requests 5 -o x.bin
bad 'a format that is not written' 2 'nearest: csv'       gen uniform:5 --requests 5 -o x.bin --format cvs
bad 'no such part'             2 'nearest: stat'      trace stats keys.txt txt
bad 'too few words'            2 'convert takes'      trace convert keys.txt txt out.csv
bad 'a skip that nothing does' 2 '--skip'           trace stat keys.txt txt --skip 3
bad 'no such file'             2 'absent'             trace stat absent txt
bad 'a format that is not read' 2 'nearest: txt'       trace print keys.txt tx
# Units of time, and what is said of columns, in reports and beside a trace on standard output.
printf 'at_ms,key,op\n1500,1,GET\n2600,2,DELETE\n' >units.csv
heddle trace stat units.csv csv,time=at_ms --json >out
same 'a unit by name' 'ms false op' "$(fact time_unit) $(fact time_unit_assumed) $(fact unread)"
heddle trace convert units.csv csv,time=1 units.vscsi vscsi --json >out
same 'a unit that is converted' 'ms us' "$(fact time_unit) $(fact time_unit_to)"
heddle trace print units.vscsi vscsi --csv >out
same 'its times' '1500000 2600000' "$(sed 1d out | cut -d, -f2 | paste -sd' ')"
heddle trace convert units.vscsi vscsi units.oracleGeneral oracleGeneral --json >out
same 'times that are cut' 2 "$(fact times_cut)"
heddle trace convert units.csv csv,unit=ns,time=at_ms,verb=op - csv --lenient >out
same 'a delete is left out' 'time_ns,key,size,verb 1500,1,1,read' "$(paste -sd' ' out)"
printf '1,2.5\n' >bare.csv
heddle trace convert bare.csv csv,key=1,time=2 - csv >out
same 'what was assumed is said' '0 2' "$(grep -c 'columns not read' err) $(grep -c 'taken for seconds\|were cut' err)"
bad 'a record cut short'       3 'short.*byte'        trace stat short oracleGeneral
bad 'the same, converted'      3 'short.*byte'        trace convert short oracleGeneral never.csv csv
if [ -e never.csv ] || [ -e x.bin ]; then fail 'what failed leaves no file' "$(ls)"; else pass 'what failed leaves no file'; fi
bad 'a folder that is not there' 4 'nowhere'          trace convert keys.txt txt nowhere/out.csv csv

# ---- Kernels under a trace -------------------------------------------------------------------------------------------

# In batches of one, kernels give the figures of the reference.
heddle gen zipf:0.99,1000 --requests 3000 --seed 7 -o served.oracleGeneral >out
replay() { heddle sim served.oracleGeneral oracleGeneral lru,lfu,epoch_lru,epoch_lfu,custom 256,10% --epoch 700 --dual --warmup 100 "$@" --csv | cut -d, -f1-10; }
want=$(replay)
if [ "$(wc -l <<<"$want")" = 11 ] && [ "$want" = "$(replay --batch 17)" ]; then pass 'the reference does not depend on batches'
else fail 'the reference does not depend on batches' "$want"
fi
if [ "$want" = "$(replay --backend host --batch 1)" ]; then pass 'kernels in batches of one'; else fail 'kernels in batches of one' "$want"; fi
if [ "$want" = "$(replay --backend host --batch 1 --kernel pipeline)" ]; then pass 'the same of a given variant'; else fail 'the same of a given variant' "$want"; fi
if [ "$want" = "$(replay --backend host --batch 100)" ]; then fail 'larger batches have other figures' "$want"; else pass 'larger batches have other figures'; fi
# In larger ones, they give the figures of a run whose every outcome the judge accepts.
for policy in lru lfu; do
  got=$(heddle sim served.oracleGeneral oracleGeneral $policy 256 --slots 128 --backend host --batch 500 --csv | tail -n 1 | cut -d, -f7,9,10)
  heddle run "hkv.insert_or_assign.coalesced backend=host policy=$policy buckets=2 slots=128 value=0 batch=500x6 keys=oracleGeneral:served.oracleGeneral judge=1" --json >out
  run="$((3000 - $(sed -n '/"outcome": "updated"/,/items/s/.*"items": \([0-9]*\),/\1/p' out))),$(fact evicted),$(fact refused)"
  if [ "$(fact judged)" = 3000 ]; then same "kernels in batches, $policy, as a judged run" "$run" "$got"; else fail "a judged run, $policy" "$(fact verdict)"; fi
done
# Expressions that compute what a row does, written so that they are not recognised: the same misses. A new policy is
# none of the rows', on kernels as on the reference. Commas in parentheses separate no policies.
columns() { heddle sim served.oracleGeneral oracleGeneral "$@" 256,10% --csv | sed 1d | sed -E 's/^("[^"]*"|[^,]*),//' | cut -d, -f2-8; }
same 'lru and lfu as expressions' "$(columns lru,lfu)" "$(columns 'expr:on_insert=max(now,now-1),expr:on_insert=given;on_hit=max(old+given,old);admission=MAX')"
fading='expr:on_insert=now;on_hit=(old>>1)+(now>>1)'
fade=$(columns "$fading")
if [ "$(wc -l <<<"$fade")" = 2 ] && [ "$fade" != "$(columns lru)" ] && [ "$fade" != "$(columns lfu)" ]; then pass 'a new policy'; else fail 'a new policy' "$fade"; fi
same 'a new policy by kernels' "$fade" "$(columns "$fading" --backend host --batch 1)"
bad 'an expression with a mistake' 2 'column 19: expected an operator' sim served.oracleGeneral oracleGeneral 'lru,expr:on_insert=now!' 256
bad 'an unknown backend' 2 'nearest: host' sim served.oracleGeneral oracleGeneral lru 256 --backend hots
bad 'a batch of nothing' 2 '--batch'       sim served.oracleGeneral oracleGeneral lru 256 --batch 0
bad 'batches of a fill'  2 '--batch'       sweep --load-factors 0.5 --batch 5

# ---- Exact caches, sizes, windows, outcomes, seeds, thresholds ----------------------------------------------------------

# column NAME: of the rows of a CSV in out, one line each.
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' out; }
sum() { awk '{ s += $1 } END { print s + 0 }'; }

# The optimum from the trace's next accesses, and from those that the command finds, also of a pipe.
heddle sim direct.oracleGeneral oracleGeneral full:belady,full:lru,lru,custom 300 --slots 300 --csv >out
want=$(column misses | tr '\n' ' ')
if [ "$(column misses | sed -n 2p)" = "$(column misses | sed -n 3p)" ] && [ "$(column misses | sed -n 1p)" = "$(column misses | sed -n 4p)" ]
then pass 'a table of one bucket is an exact cache'; else fail 'a table of one bucket is an exact cache' "$want"; fi
best=$(column misses | sed -n 1p)
heddle sim keys.txt txt full:belady 300 --csv >out
same 'the optimum of a text' "$best" "$(column misses)"
guard "$HEDDLE" sim - txt full:belady 300 --csv 2>err <keys.txt >out
same 'the optimum of a pipe' "$best" "$(column misses)"
heddle sweep zipf:0.9,3000 --requests $requests --seed 5 -p full:belady --sizes 300 >out
same 'the optimum of a generator' "$best" "$(column misses)"
heddle sim keys.txt txt full:belady 300 --admit always --csv >out
if [ "$(column refused)" = 0 ] && [ "$(column misses)" -gt "$best" ]; then pass 'with --admit always it refuses nothing'
else fail 'with --admit always it refuses nothing' "$(cat out)"; fi

# Every key once: the missed bytes are the footprint.
awk 'BEGIN { OFS = "," } { print $1, $1 % 97 + 1 }' keys.txt >sized.csv
stat sized.csv csv,key=1,size=2
want=$(awk -v a="$(fact footprint_bytes)" -v b="$(fact requested_bytes)" 'BEGIN { printf "%.10f", a / b }')
heddle sim sized.csv csv,key=1,size=2 lru,full:fifo 6000 --csv >out
same 'bytes that are missed' "$want $want" "$(column byte_miss_ratio | awk '{ printf "%s%.10f", (NR > 1 ? " " : ""), $1 }')"
heddle sim sized.csv csv,key=1 lru 6000 --json >out
same 'a trace without sizes' 'false null' "$(fact sizes) $(sed -n 's/.*"byte_miss_ratio": \([a-z0-9.]*\),*$/\1/p' out)"

for format in vscsi1 vscsi2 oracleGeneral; do
  heddle sim through.$format ${format%[12]} lru 100 --json >out
  same "$format has sizes" true "$(fact sizes)"
done

# Exact caches in bytes: 5 and 6 GiB and 9 bytes in 12 and in 5 GiB.
printf 'key,size\n1,5368709120\n2,6442450944\n1,5368709120\n3,9\n' >big.csv
heddle sim big.csv csv full:lru,full:s3fifo 12GiB,5368709128B --csv >out
same 'objects above 4 GiB: misses, evicted, refused' '3 3 3 3, 0 1 0 1, 0 1 0 1' "$(echo $(column misses)), $(echo $(column evicted)), $(echo $(column refused))"
heddle sim big.csv csv full:lru 12GiB --json >out
same 'the unit of sizes' bytes "$(fact unit)"
heddle sim big.csv csv full:lru 1 --csv >out
same 'a cache of one entry' '1 4 3' "$(column capacity) $(column misses) $(column evicted)"

# Windows begin after the warm-up and add up to the row, whatever the batches.
for options in '--batch 64' '--threads 2 --batch 999' '--every 7'; do
  heddle sim direct.oracleGeneral oracleGeneral lru,lfu,full:clock 100,300 --warmup 123 --csv >out
  want="$(column requests | sum) $(column misses | sum) $(column evicted | sum)"
  # shellcheck disable=SC2086
  heddle sim direct.oracleGeneral oracleGeneral lru,lfu,full:clock 100,300 --warmup 123 --every 1000 $options --csv >out
  same "windows, $options" "$want" "$(column requests | sum) $(column misses | sum) $(column evicted | sum)"
done
heddle sim direct.oracleGeneral oracleGeneral lru 100 --warmup 123 --every 1000 --csv >out
same 'their numbers' '20 124 877' "$(column window | tail -n 1) $(column first | head -n 1) $(column requests | tail -n 1)"

# A byte per request, in order, warm-up included; to a file, compressed, and to a pipe.
heddle sim direct.oracleGeneral oracleGeneral custom 100 --outcomes outcomes.u8 --csv >out
want="$(column requests) $(column misses) $(column evicted) $(column refused)"
bytes() { od -An -v -tu1 -w1 "$1" | awk '{ n[$1]++ } END { print NR, n[2] + n[4] + n[5], n[4] + 0, n[5] + 0 }'; }
same 'outcomes' "$want" "$(bytes outcomes.u8)"
heddle sim direct.oracleGeneral oracleGeneral custom 100 --warmup 50 --batch 77 --outcomes outcomes.zst >out
if ! command -v zstd >/dev/null; then skip 'outcomes, compressed' 'zstd is missing'
elif zstd -dcq outcomes.zst | cmp -s - outcomes.u8; then pass 'outcomes, compressed'; else fail 'outcomes, compressed'; fi
mkfifo pipe
cat pipe >piped.u8 &
heddle sim direct.oracleGeneral oracleGeneral custom 100 --outcomes pipe >out
wait $!
if cmp -s piped.u8 outcomes.u8; then pass 'outcomes to a pipe'; else fail 'outcomes to a pipe'; fi
heddle sim direct.oracleGeneral oracleGeneral full:lru 300 --outcomes full.u8 --csv >out
same 'outcomes of an exact cache' "$(column requests) $(column misses) $(column evicted) $(column refused)" "$(bytes full.u8)"
heddle sim through.txt txt lru 100 --outcomes /dev/full --csv >out
same 'outcomes that do not fit: the results, and exit' '4 2' "$? $(wc -l <out)"
bad 'outcomes of two rows'       2 '--outcomes'      sim keys.txt txt lru,lfu 100 --outcomes x
bad 'outcomes of two seeds'      2 '--outcomes'      sim keys.txt txt lru 100 --seeds 2 --outcomes x
bad 'outcomes over their trace'  2 'what is read'    sim keys.txt txt lru 100 --outcomes ./keys.txt
bad 'outcomes over the table'    2 'what --save writes' sim keys.txt txt lru 100 --outcomes ./both --save both
bad 'a plot over the rows'       2 'what --output writes' sweep keys.txt txt --plot ./both.svg --output "$work/both.svg"
bad 'a page over a trace'        2 'what is read'    explain trace=keys.txt format=txt bucket=0 --html ./keys.txt
bad 'a page over a key file'     2 'what is read'    explain hkv.find.warp keys=txt:keys.txt --html keys.txt
bad 'a page over a schedule'     2 'what is read'    sched hkv.find.warp keys=txt:keys.txt,hash=1 --html keys.txt
cp keys.txt keys.svg
bad 'a plot over a run'          2 'what is read'    run hkv.serve.ref keys=txt:keys.svg --plot ./keys.svg
bad 'outcomes beside the report' 2 '--outcomes'      sim keys.txt txt lru 100 --outcomes -
bad 'outcomes in no folder'      4 '--outcomes'      sim keys.txt txt lru 100 --outcomes nowhere/x
bad 'an exact cache saved'       2 'no table'        sim keys.txt txt full:lru 100 --save x

# The spread over seeds is that of runs with each.
for seed in 3 4 5; do heddle sim keys.txt txt lru 250 --slots 10 --seed $seed --csv >out; column miss_ratio; done >each
want=$(sort -g each | awk '{ s += $1; q += $1 * $1 } NR == 1 { least = $1 } END { m = s / NR; printf "%.9f %.9f %.9f %.5f", m, least, $1, sqrt((q - NR * m * m) / (NR - 1)) }')
heddle sim keys.txt txt lru 250 --slots 10 --seed 3 --seeds 3 --threads 2 --csv >out
same 'the spread over seeds' "$want" "$(paste -d' ' <(column miss_ratio_mean) <(column miss_ratio_least) <(column miss_ratio_most) <(column miss_ratio_deviation) | awk '{ printf "%.9f %.9f %.9f %.5f", $1, $2, $3, $4 }')"
same 'the other columns are of the first' "$(head -n 1 each)" "$(column miss_ratio)"
heddle sim keys.txt txt full:lru,full:random 250 --seeds 4 --csv >out
same 'an exact cache depends on a seed or does not' '0 1' "$(column miss_ratio_deviation | awk '{ printf "%s%d", (NR > 1 ? " " : ""), ($1 > 0) }')"

# A threshold: the report, one line, exit 1.
heddle sim keys.txt txt lru,fifo 100,300 --fail-above 0.1 --csv >out
same 'above the threshold' '1 1 5' "$? $(grep -c 'fail-above: fifo, 100 (100 entries).*4 runs of 4' err) $(wc -l <out)"
heddle sim keys.txt txt lru,fifo 100,300 --fail-above 0.99 >out
same 'below the threshold' '0 0' "$? $(wc -l <err)"
heddle sweep keys.txt txt -p lru --sizes 100 --fail-above 0.1 >out
same 'a sweep above the threshold' '1 2' "$? $(wc -l <out)"
bad 'a threshold that is no ratio' 2 '--fail-above'     sim keys.txt txt lru 100 --fail-above 50
for warm in '--warmup 999999' '--warmup 999999 --fail-above 0' '--warmup 999999 --every 9'; do
  # shellcheck disable=SC2086
  heddle sim keys.txt txt lru,full:lru 100 $warm --csv >out
  same "no request is counted: $warm" "3 1" "$? $(grep -c 'no request is counted: --warmup' err)"
done
printf '18446744073709551613\n18446744073709551614\n' >reserved.txt
heddle sim reserved.txt txt lru 100 >out
same 'reserved keys alone' "3 1" "$? $(grep -c 'all 2 are for keys that no table holds' err)"
heddle sweep reserved.txt txt --sizes 100 --plot nothing.svg >out
same 'a sweep of them' "3 1 3" "$? $(grep -c 'all 2 are' err) $(wc -l <out)"
# What may be left out, and hints.
heddle sim keys.txt txt lru 10% --csv | cut -d, -f1-10 >want
for words in keys.txt 'keys.txt txt' 'keys.txt lru 10%'; do
  # shellcheck disable=SC2086
  heddle sim $words --csv | cut -d, -f1-10 >out
  if cmp -s want out; then pass "sim $words"; else fail "sim $words" "$(cat out err)"; fi
done
same 'sweep FILE' "$(heddle sweep keys.txt txt --sizes 100 | cut -d, -f1-9)" "$(heddle sweep keys.txt --sizes 100 | cut -d, -f1-9)"
same 'stat FILE' "$(heddle trace stat keys.txt txt --csv | sed 1,3d)" "$(heddle trace stat keys.txt --csv | sed 1,3d)"
cp keys.txt keys.txt.zst.old
same 'print FILE' "$(heddle trace print keys.txt txt)" "$(heddle trace print keys.txt.zst.old)"
cp keys.txt noname
bad 'a name without a format'      2 "the name 'noname' says none" sim noname
bad 'no such policy'               2 'lirs.*exact cache is full:lirs' sim keys.txt lirs 10
bad 'a table in bytes'             2 'entries, not bytes'   sim keys.txt lru 1GiB
bad 'bytes of a trace without sizes' 2 'no sizes'         sim keys.txt full:lru 1GiB
bad 'bytes of pages'               2 'not for bytes'       sim keys.txt full:lirs 1GiB
bad 'bytes and entries'            2 'one unit'            sim keys.txt full:lru 1GiB,10
bad 'no number of bytes'           2 'no number of bytes'  sim keys.txt full:lru 1xB
bad 'no bytes at all'              2 'no number of bytes'  sim keys.txt full:lru 0B
bad 'a table of one entry'         2 'at least 2 entries'  sim keys.txt lru 1
bad 'a genome with an argument'    2 'heddle gen genome --bases' gen genome:5000
heddle sim keys.txt lru 90% --slots 16 >out
same 'full buckets beside free slots' 1 "$(grep -c 'With --dual' out)"
heddle sim keys.txt lru 90% --slots 16 --dual >out
same 'no hint with --dual' 0 "$(grep -c 'With --dual' out)"
heddle sim keys.txt lru,full:lru 100,300 --json >sim.json
heddle plot sim.json -o sim.svg >out
same 'a plot of sim' '0 1' "$? $(grep -c '<svg' sim.svg)"
bad 'no batch'                     2 '0 batches run nothing' run hkv.serve.ref batch=5x0
bad 'no input'                     2 'neither a FILE nor a corpus' fuzz table --runs 0
bad 'skipping all'                 3 '--skip: the trace has only 2' trace print reserved.txt txt --skip 2
bad 'JSON and CSV'                 2 '--json and --csv' trace stat keys.txt txt --json --csv
bad 'windows of several seeds'     2 '--every'          sim keys.txt txt lru 100 --every 10 --seeds 2
heddle gen uniform:5 --requests 1100000 -o many.oracleGeneral >out
bad 'too many windows'             2 '--every'          sim many.oracleGeneral oracleGeneral lru 100 --every 1
bad 'a fill by an exact cache'     2 'full:lru'         sweep --load-factors 0.5 -p full:lru
bad 'a fill with seeds'            2 '--seeds'          sweep --load-factors 0.5 --seeds 3
bad 'an exact cache that is none'  2 'nearest: full:lru' sim keys.txt txt full:lrv 100

# ---- Public formats, and what a report says of its trace -----------------------------------------------------------------

# lcs FILE VERSION REQUESTS: a header.
zeros() { head -c "$1" /dev/zero; }
magic() { printf '\360\336\274\232\170\126\064\022'; }
little() { local v=$1 i; for i in 1 2 3 4 5 6 7 8; do printf "\\$(printf %03o $((v & 255)))"; v=$((v >> 8)); done; }
lcs_head() { magic; little "$1"; little 1; little "$2"; zeros 8152; magic; }
# rows FILE FORMAT: what sim says of the trace, without names and times.
rows() { heddle sim "$1" "$2" full:lru,full:belady,lru,custom 100,300 --csv | sed 's/[^,]*,[^,]*$//'; }

{ lcs_head 1 $requests; cat direct.oracleGeneral; } >direct.lcs
want=$(rows direct.oracleGeneral oracleGeneral)
same 'lcs is oracleGeneral with a header' "$(cksum <<<"$want")" "$(rows direct.lcs lcs | cksum)"
same 'binary, too' "$(cksum <<<"$want")" "$(rows direct.oracleGeneral 'binary,format=<IQIq,time=1,key=2,size=3,next=4' | cksum)"
heddle sim direct.oracleGeneral 'binary,format=<IQIq,key=2' full:belady 300 --csv >out
same 'and without next accesses, which are found' "$best" "$(column misses)"
{ lcs_head 1 $((requests + 1)); cat direct.oracleGeneral; } >fewer.lcs
bad 'a lost request of lcs' 3 'byte 24: the header says 20001 requests' trace stat fewer.lcs
heddle trace stat fewer.lcs --lenient --json >out
same 'it is counted' "$requests 1" "$(fact requests) $(fact skipped)"
head -c 9000 direct.lcs >cut.lcs
bad 'a cut lcs' 3 'byte 8984: the last record is cut short' sim cut.lcs lcs lru 100

{ printf abc; cat direct.oracleGeneral; } >behind
{ head -c 3 >/dev/null; guard "$HEDDLE" trace stat - oracleGeneral --json; } <behind >out 2>err
same 'records of standard input from where it stands' $requests "$(fact requests)"
{ head -c 3 >/dev/null; guard "$HEDDLE" trace stat - oracleGeneral --json; } < <(head -c 5000 behind) >out 2>err
same 'and cut short there' '3 1' "$? $(grep -c 'the last record is cut short' err)"

# The members of a file: each is read, in both codecs, also in other formats.
half=$((requests / 2))
for codec in gzip zstd; do
  command -v $codec >/dev/null || { skip "members of $codec" "$codec is missing"; continue; }
  { head -n $half keys.txt | $codec -c; : | $codec -c; tail -n +$((half + 1)) keys.txt | $codec -c; } >members.txt
  same "members of $codec" "$(cksum <keys.txt)" "$(heddle trace convert members.txt txt - txt | cksum)"
  { $codec -c <direct.lcs | head -c 3000; } >cut.packed
  bad "a cut member of $codec" 3 'ends too early' trace stat cut.packed lcs
done
tar cf keys.tar keys.txt
bad 'an archive' 3 'an archive of tar' trace stat keys.tar csv,key=1
bad 'an archive as records' 3 'an archive of tar' sim keys.tar oracleGeneral lru 100

# Twitter, CacheLib, MSR Cambridge, Mooncake: requests, keys and bytes against awk.
awk -v OFS=, '{ print int(NR / 100), "nz:u:" $1, 6, $1 % 90, 3, (NR % 3 ? "get" : "set"), 0 }' keys.txt >t.twitter
heddle trace stat t.twitter --json >out
same 'twitter' "$(awk -F, '{ n++; b += $3 + $4; d += !seen[$2]++; r += $6 == "get" } END { print n, d, b, r, "s" }' t.twitter)" \
  "$(fact requests) $(fact distinct) $(fact requested_bytes) $(fact read) $(fact time_unit)"
awk -v OFS=, 'BEGIN { print "op_time,key,key_size,op,op_count,size,ttl" } { print NR, $1, 9, "GET", 1 + NR % 4, $1 % 90, 0 }' keys.txt >t.cachelib
heddle trace stat t.cachelib --json >out
same 'cachelib' "$(awk -F, 'NR > 1 { n += $5; b += $5 * ($3 + $6); x += $5 - 1 } END { print n, b, x, "ttl" }' t.cachelib)" \
  "$(fact requests) $(fact requested_bytes) $(fact extra) $(fact unread)"
awk -v OFS=, '{ print "128166372003061629", "usr", 0, (NR % 2 ? "Read" : "Write"), $1 % 9973 * 512, 512 * (1 + NR % 40), 9 }' keys.txt >t.msr
heddle trace stat t.msr --json >out
same 'msr' "$(awk -F, '{ first = int($5 / 4096); last = int(($5 + $6 - 1) / 4096); n += last - first + 1
    for (b = first; b <= last; b++) d += !seen[b]++ } END { print n, d, 4096 * n, n - NR, "ns" }' t.msr)" \
  "$(fact requests) $(fact distinct) $(fact requested_bytes) $(fact extra) $(fact time_unit)"
heddle trace convert t.msr msr t.oracleGeneral oracleGeneral >out
same 'its times are those of 2007' 1172163600 "$(heddle trace stat t.oracleGeneral --json | fact time_first /dev/stdin)"
awk '{ printf "{\"timestamp\": %d, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [%d, %d]}\n", NR, $1 % 9973, NR }' keys.txt >t.jsonl
heddle trace stat t.jsonl --json >out
same 'mooncake' "$((2 * requests)) $requests ms" "$(fact requests) $(fact extra) $(fact time_unit)"

# Deletes and bad rows: refused; or counted apart, in the report of each verb that reads traces.
printf 'key,op,size,op_count,key_size\n1,SET,8,1,1\n1,DELETE,0,1,1\n1,go,8,1,1\n2,GET,8,3,1\n' >odd.cachelib
bad 'a delete' 3 'line 3, column 2 (op): a delete' sim odd.cachelib cachelib lru 100
for verb in 'sim odd.cachelib cachelib lru 100' 'sweep odd.cachelib cachelib --sizes 100' 'curve odd.cachelib cachelib -p full:lru --sizes 2' \
  'trace stat odd.cachelib cachelib' 'trace print odd.cachelib cachelib' 'trace convert odd.cachelib cachelib odd.csv csv'; do
  # shellcheck disable=SC2086
  heddle $verb --lenient --json >out
  same "what is left out: ${verb%% odd*}" '1 1 2' "$(fact skipped) $(fact deletes) $(fact extra)"
done
heddle trace convert odd.cachelib cachelib - csv --lenient >odd.csv
same 'and beside a trace on standard output' '1 1 4' "$(grep -c '1 bad record' err) $(grep -c '1 deletes' err) $(sed 1d odd.csv | wc -l)"

# A header is found, and said; where it may be a key, it is not.
printf 'key\nalpha\nbeta\nalpha\n' >one.csv
printf '# timestamp (ms), op type [Put:0, Get:1], object id, object size (byte)\n0,1,A,8371\n103,1,B,31\n159,1,C,3668\n315,1,A,8371\n' >ibm.csv
printf '\nid,size\n7,10\n8,20\n7,10\n' >two.csv
for row in 'one.csv 1 3 2' 'ibm.csv 3 4 3' 'two.csv 1 3 2'; do
  set -- $row
  heddle trace stat "$1" csv,key="$2" --json >out
  said=$(sed -n 's/^  "header": "\(.*\)",$/\1/p' out)
  same "a header of $1" "$3 $4 $(grep -m 1 . "$1")" "$(fact requests) $(fact distinct) $said"
  for verb in "sim $1 csv,key=$2 full:lru 2" "sweep $1 csv,key=$2 -p full:lru --sizes 2" "curve $1 csv,key=$2 -p full:lru --sizes 2"; do
    # shellcheck disable=SC2086
    heddle $verb --json >out
    same "it is said by ${verb%% *}" 1 "$(grep -c '"header": ' out)"
  done
done
heddle trace convert two.csv csv,key=1 - txt >out
same 'beside a trace on standard output' 1 "$(grep -c 'line 1 is taken for a header: id,size' err)"
for verb in 'sim two.csv csv,key=1 full:lru 2 --csv' 'sweep two.csv csv,key=1 -p full:lru --sizes 2' 'trace print two.csv csv,key=1 --csv'; do
  # shellcheck disable=SC2086
  heddle $verb >out
  same "beside CSV of ${verb%% two*}" 1 "$(grep -c 'line 1 is taken for a header: id,size' err)"
done
heddle sweep odd.cachelib cachelib --sizes 100 --lenient >out
same 'what is left out, beside CSV' '1 1' "$(grep -c '1 bad record' err) $(grep -c '1 deletes' err)"
printf 'alpha,beta\ngamma,delta\n' >may.csv
bad 'what may be a header' 2 'say header=1, or header=0' sim may.csv csv,key=1 lru 100
heddle sim two.csv csv,key=1,header=1 full:lru 2 --json >out
same 'what was said is not said again' 0 "$(grep -c '"header": ' out)"
printf 'time_ms,key\n2.5e3,1\n2501.5,2\n' >exponents.csv
heddle trace convert exponents.csv csv exponents.oracleGeneral oracleGeneral --json >out
same 'times with exponents and fractions' 'ms s false 3' "$(fact time_unit) $(fact time_unit_to) $(fact time_unit_assumed) $(fact times_cut)"

trace=${HEDDLE_DATA:-}/cloudPhysicsIO.oracleGeneral.zst
if [ -r "$trace" ]; then
  stat "$trace" oracleGeneral
  same 'a real trace' '113872 48974 true' "$(fact requests) $(fact distinct) $(fact exact)"
  # its next accesses, dropped by csv, are computed again; its records come back byte for byte
  heddle trace convert "$trace" oracleGeneral real.csv csv >out && heddle trace convert real.csv csv real.oracleGeneral oracleGeneral >out
  heddle trace print "$trace" oracleGeneral --limit 20000 --csv >want
  heddle trace print real.oracleGeneral oracleGeneral --limit 20000 --csv >got
  if [ -s want ] && cmp -s want got; then pass 'a real trace through csv'; else fail 'a real trace through csv' "$(diff want got | head -n 4)"; fi
  { lcs_head 1 113872; cat real.oracleGeneral; } >real.lcs
  same 'a real trace as lcs' "$(rows real.oracleGeneral oracleGeneral | cksum)" "$(rows real.lcs lcs | cksum)"
else
  skip 'a real trace' 'cloudPhysicsIO.oracleGeneral.zst is not in HEDDLE_DATA'
fi

finish
