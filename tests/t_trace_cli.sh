# SPDX-License-Identifier: Apache-2.0
#
# t_trace_cli.sh - gen, trace convert, trace stat and trace print agree with each other and with awk: each reads what
# another wrote, in every format and compression.
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

trace=${HEDDLE_DATA:-}/cloudPhysicsIO.oracleGeneral.zst
if [ -r "$trace" ]; then
  stat "$trace" oracleGeneral
  same 'a real trace' '113872 48974 true' "$(fact requests) $(fact distinct) $(fact exact)"
  # its next accesses, dropped by csv, are computed again; its records come back byte for byte
  heddle trace convert "$trace" oracleGeneral real.csv csv >out && heddle trace convert real.csv csv real.oracleGeneral oracleGeneral >out
  heddle trace print "$trace" oracleGeneral --limit 20000 --csv >want
  heddle trace print real.oracleGeneral oracleGeneral --limit 20000 --csv >got
  if [ -s want ] && cmp -s want got; then pass 'a real trace through csv'; else fail 'a real trace through csv' "$(diff want got | head -n 4)"; fi
else
  skip 'a real trace' 'cloudPhysicsIO.oracleGeneral.zst is not in HEDDLE_DATA'
fi

finish
