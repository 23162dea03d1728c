# SPDX-License-Identifier: Apache-2.0
#
# t_kmer_cli.sh - heddle kmer counts real genomes and reads exactly (two independent counters gave the figures), agrees
# with awk on a made-up genome, grows its table if needed, and reports if it could not grow.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$work" || exit 1
words=$work/err

# fact KEY: its value in the last report.
fact() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" out; }
# kmer ARGUMENT...: runs it; the exit code is in $code.
kmer() { guard "$HEDDLE" kmer "$@" --json >out 2>err <"${from:-/dev/null}"; code=$?; }
# counts NAME COUNTED DISTINCT ARGUMENT...: exactly so many, and exact.
counts() {
  local name=$1 counted=$2 distinct=$3 got
  shift 3
  kmer "$@"
  got="exit $code, counted $(fact counted), distinct $(fact distinct), exact $(fact exact), lost $(fact lost)"
  if [ "$got" = "exit 0, counted $counted, distinct $distinct, exact true, lost 0" ]; then pass "$name: $counted counted, $distinct distinct"
  else fail "$name: $counted counted, $distinct distinct" "$got"
  fi
}

# ---- Real data -------------------------------------------------------------------------------------------------------

virus=${HEDDLE_DATA:-}/lambda_virus.fa reads=${HEDDLE_DATA:-}/lambda_reads_1.fq.zst
if [ -r "$virus" ] && [ -r "$reads" ]; then
  counts 'a genome'             48487 48486 "$virus" 16
  counts 'reads'                779967 104580 "$reads" 16 --canonical
  if [ "$(fact doublings)" -ge 2 ]; then pass 'the table grew'; else fail 'the table grew' "doublings: $(fact doublings)"; fi
  counts 'reads, one thread'    779967 104580 "$reads" 16 --threads 1
  counts 'a table large enough' 779967 104580 "$reads" 16 --capacity 262144
  if [ "$(fact doublings)" = 0 ]; then pass 'a given table does not grow'; else fail 'a given table does not grow' "doublings: $(fact doublings)"; fi
  counts 'a genome, hive'       48487 48486 "$virus" 16 --design hive
  counts 'reads, hive'          779967 104580 "$reads" 16 --design hive
  grown="$(fact doublings) times, to $(fact capacity) slots"
  if [ "$(fact doublings)" -ge 2 ] && [ "$(fact capacity)" -ge 104580 ]; then pass 'hive grew from 1,024 slots'; else fail 'hive grew from 1,024 slots' "$grown"; fi
  gzip -c "$virus" >virus.fa.gz && counts 'the genome as .gz' 48487 48486 virus.fa.gz 16
  if command -v zstd >/dev/null; then
    zstd -q "$virus" -o virus.fa.zst && counts 'the genome as .zst' 48487 48486 virus.fa.zst 16
  else skip 'the genome as .zst' 'no zstd'
  fi

  kmer "$reads" 16 --capacity 50000
  if [ $code = 1 ] && [ "$(fact exact)" = false ] && [ "$(fact distinct)" = null ] && [ "$(fact lost)" -gt 0 ]; then
    pass 'a table too small: exit 1, not exact'
  else fail 'a table too small: exit 1, not exact' "exit $code, exact $(fact exact), distinct $(fact distinct)"
  fi
  if [ "$(wc -l <err)" = 1 ] && grep -q 'not exact.*--capacity' err; then pass 'and one line says what to do'
  else fail 'and one line says what to do' "$(wc -l <err) lines"
  fi

  # the histogram's rows add up to what was counted
  kmer "$reads" 16 --histogram
  sums=$(awk -F'[:,]' '/"count"/ { c = $2 } /"kmers"/ { k += $2; n += c * $2 } END { print k, n }' out)
  if [ "$sums" = '104580 779967' ]; then pass 'the histogram adds up'; else fail 'the histogram adds up' "k-mers and occurrences: $sums"; fi
else
  skip 'real genomes and reads' 'lambda_virus.fa, lambda_reads_1.fq.zst are not in HEDDLE_DATA'
fi

# ---- A made-up genome against awk ------------------------------------------------------------------------------------

# 40,000 bases by a linear congruential generator (Park and Miller's), some N, some lower case, then 800 pieces of them
# again.
awk 'function next_number() { return x = x * 16807 % 2147483647 }
  BEGIN { x = 12345; print ">made up"
    for (i = 0; i < 40000; i++) seq = seq (next_number() % 997 == 0 ? "N" : substr(i % 100 < 10 ? "acgt" : "ACGT", int(x / 65536) % 4 + 1, 1))
    for (i = 0; i < 800; i++) seq = seq substr(seq, int(next_number() / 65536) % 16000 + 1, 100)
    for (i = 1; i <= length(seq); i += 60) print substr(seq, i, 60) }' >made.fa
# expected K CANONICAL: "kmer count" for every window without N, in letters.
expected() {
  awk -v k="$1" -v canonical="$2" '
    !/^>/ { seq = seq toupper($0) }
    function reverse(s,   r, i) { r = ""; for (i = length(s); i; i--) r = r substr("TGCA", index("ACGT", substr(s, i, 1)), 1); return r }
    END { n = length(seq)
      for (i = 1; i + k - 1 <= n; i++) { w = substr(seq, i, k); if (w ~ /N/) continue
        if (canonical && (r = reverse(w)) < w) w = r; times[w]++ }
      for (w in times) print w, times[w] }' made.fa | LC_ALL=C sort
}
for k in 1 4 11; do
  for canonical in 0 1; do
    way=$([ $canonical = 1 ] && echo --canonical || echo --forward)
    expected $k $canonical >want
    guard "$HEDDLE" kmer made.fa $k $way --top 1000000 --csv 2>err </dev/null | awk -F, 'NR > 1 { print $1, $2 }' >ranked
    LC_ALL=C sort ranked >got
    if [ -s got ] && cmp -s want got; then pass "k = $k, $way: $(wc -l <want) k-mers, each as often as awk says"
    else fail "k = $k, $way: each k-mer as often as awk says" "$(diff want got | head -n 3)"
    fi
    guard "$HEDDLE" kmer made.fa $k $way --design hive --top 1000000 --csv 2>err </dev/null | awk -F, 'NR > 1 { print $1, $2 }' | LC_ALL=C sort >got
    if [ -s got ] && cmp -s want got; then pass "k = $k, $way, hive: the same"; else fail "k = $k, $way, hive: the same" "$(diff want got | head -n 3)"; fi
  done
done
# ranked and got are of 11, canonical: the same by kernels, in tables that grow
for table in 'hkv --backend host' 'hive --backend host' 'ovs --near 8Ki --set segment=1Ki' 'ovs --near 8Ki --backend host' \
  'sl --set segment=1Ki' 'sl --near 16Mi --set value_bytes=8 --backend host'; do
  # shellcheck disable=SC2086
  guard "$HEDDLE" kmer made.fa 11 --design $table --top 1000000 --csv 2>err </dev/null | awk -F, 'NR > 1 { print $1, $2 }' | LC_ALL=C sort >got
  if [ -s got ] && cmp -s want got; then pass "$table: the same"; else fail "$table: the same" "$(diff want got | head -n 3; cat err)"; fi
done
guard "$HEDDLE" kmer made.fa 21 --top 1000000 --csv 2>err </dev/null | LC_ALL=C sort >wide
for table in sl ovs 'ovs --near 32Ki --set segment=1Ki' 'ovs --near 4Mi --backend host'; do
  # shellcheck disable=SC2086
  guard "$HEDDLE" kmer made.fa 21 --design $table --top 1000000 --csv 2>err </dev/null | LC_ALL=C sort >got
  if [ -s got ] && cmp -s wide got; then pass "$table holds K of 21"; else fail "$table holds K of 21" "$(diff wide got | head -n 3; cat err)"; fi
done
if sort -c -s -k2,2nr ranked 2>err; then pass 'the most frequent come first'; else fail 'the most frequent come first' ''; fi
want=$(sort -k2,2nr -k1,1 ranked | head -n 7)
got=$(guard "$HEDDLE" kmer made.fa 11 --top 7 --csv 2>err </dev/null | awk -F, 'NR > 1 { print $1, $2 }')
if [ "$got" = "$want" ]; then pass 'the top 7 are the first 7 of all'; else fail 'the top 7 are the first 7 of all' "$got"; fi

# ---- A generated genome: large tables grow to what the rest of the file needs ----------------------------------------

# histogram NAME ARGUMENT...: the rows, and the facts are in out.
histogram() {
  local name=$1
  shift
  kmer "$@" --histogram
  awk -F'[:,]' '/"count"/ { c = $2 } /"kmers"/ { print c, $2 }' out >"$name"
  [ $code = 0 ] && [ -s "$name" ]
}
"$HEDDLE" gen genome --bases 10M --seed 7 -o generated.fa >/dev/null && "$HEDDLE" gen genome --bases 10M --seed 7 -o generated.fa.zst >/dev/null
histogram grown generated.fa 21 && [ "$(fact counted)" = 9999980 ]
code=$? grew="$(fact doublings) times, to $(fact capacity)"
if [ $code = 0 ] && [ "$(fact doublings)" = 8 ]; then pass "ten million bases: it grew $grew"; else fail 'ten million bases: seven doublings, and one growth to what is needed' "exit $code, $grew"; fi
if histogram fixed generated.fa 21 --capacity 32Mi --threads 1 && cmp -s grown fixed; then pass 'a table that does not grow has the same histogram'
else fail 'a table that does not grow has the same histogram' "$(diff grown fixed | head -n 3)"
fi
if histogram packed generated.fa.zst 21 --threads 3 && cmp -s grown packed; then pass 'so has the compressed file on three threads'
else fail 'so has the compressed file on three threads' "$(diff grown packed | head -n 3)"
fi
if from=<(cat generated.fa) histogram piped - 21 && cmp -s grown piped; then pass 'and a pipe, whose end cannot be known'
else fail 'and a pipe, whose end cannot be known' "$(diff grown piped | head -n 3)"
fi
# the thread that counts runs out of memory: the one that reads says so
(ulimit -v 400000 && "$HEDDLE" kmer generated.fa 21 --threads 1 >out 2>err </dev/null)
code=$?
if [ $code = 4 ] && [ "$(wc -l <err)" = 1 ]; then pass "no memory to grow: exit 4, $(cat err)"; else fail 'no memory to grow: exit 4' "exit $code: $(cat err)"; fi
rm generated.fa generated.fa.zst

# ---- Snapshots and mistakes ------------------------------------------------------------------------------------------

kmer made.fa 11 -o made.hd
distinct=$(fact distinct)
if [ $code = 0 ] && "$HEDDLE" inspect made.hd --json >out 2>err && [ "$(fact size)" = "$distinct" ]; then pass "the saved table has $distinct entries"
else fail 'the saved table has all entries' "size $(fact size), not $distinct"
fi
# where FILE: every section is where inspect says that it is, and the last one ends where the file does.
where() {
  local section offset bytes end=0 wrong=
  while IFS=, read -r section offset bytes _; do
    [ "$(tail -c +$((offset + 1)) "$1" | head -c 4)" = "$section" ] || wrong="$wrong $section at $offset"
    end=$((offset + 16 + bytes + 16))
  done < <("$HEDDLE" inspect "$1" --csv 2>err | awk 'NR > 1')
  [ -z "$wrong" ] && [ $end = "$(wc -c <"$1")" ] || { echo "not there:$wrong; the end at $end of $(wc -c <"$1")"; return 1; }
}
try 'inspect says where its sections are' where made.hd
kmer made.fa 11 --design hive -o hive.hd
try 'and where those of a table of Hive are' where hive.hd
if "$HEDDLE" inspect hive.hd --json >out 2>err && [ "$(fact size)" = "$distinct" ] && [ "$(fact base_buckets) $(fact hashes) $(fact score_least)" = '64 2 ' ]; then
  pass 'it says how keys find their buckets, and of no scores'
else fail 'it says how keys find their buckets, and of no scores' "$(fact size), $(fact base_buckets), $(fact hashes), $(fact score_least)"
fi
# A table that keeps its keys in order is asked for ranges; the entries of another one are sorted.
kmer made.fa 11 --design sl -o sl.hd
for bounds in '' '0 100000' '1000 900000'; do
  # shellcheck disable=SC2086
  "$HEDDLE" range made.hd $bounds --csv --limit 1000000 2>err | cut -d, -f1,2 >sorted
  # shellcheck disable=SC2086
  "$HEDDLE" range sl.hd $bounds --csv --limit 1000000 2>>err | cut -d, -f1,2 >ranged
  if ! [ -s err ] && [ "$(wc -l <ranged)" -gt 1 ] && cmp -s sorted ranged && sed 1d ranged | sort -t, -k1,1n -c; then pass "the entries in order, $(wc -l <ranged) lines"
  else fail 'the entries in order' "$(wc -l <sorted) lines, and $(wc -l <ranged): $(head -n 1 err)"
  fi
done
printf '>short\nACGT\n' >short.fa

# Keys that no table of Hive's holds are k-mers, too: the last three of those that have 16 bases.
printf '>last\nTTTTTTTTTTTTTTTTTTTTGTTTTTTTTTTTTTTTT\n' >last.fa
expected_last() { awk '!/^>/ { for (i = 1; i + 15 <= length($0); i++) times[substr($0, i, 16)]++ } END { for (w in times) print w, times[w] }' last.fa | LC_ALL=C sort; }
expected_last >want
guard "$HEDDLE" kmer last.fa 16 --forward --design hive --top 100 --csv 2>err </dev/null | awk -F, 'NR > 1 { print $1, $2 }' | LC_ALL=C sort >got
if grep -q TTTTTTTTTTTTTTTT got && cmp -s want got; then pass 'k-mers that are reserved keys are counted'; else fail 'k-mers that are reserved keys are counted' "$(diff want got | head -n 3)"; fi
counts 'and are different ones' 22 "$(wc -l <want)" last.fa 16 --forward --design hive
kmer last.fa 16 --forward --design hive -o last.hd
if [ $code = 1 ] && grep -q 'last.hd lacks 2 k-mers' err; then pass 'a snapshot that lacks them is said to: exit 1'; else fail 'a snapshot that lacks them is said to: exit 1' "exit $code: $(cat err)"; fi
kmer last.fa 15 --forward --design hive -o last.hd
if [ $code = 0 ] && ! [ -s err ]; then pass 'one that has all is not'; else fail 'one that has all is not' "exit $code: $(cat err)"; fi

# bad NAME CODE PATTERN ARGUMENT...
bad() {
  local name=$1 want=$2 pattern=$3
  shift 3
  kmer "$@"
  if [ $code = "$want" ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$pattern" err && ! [ -s out ]; then pass "$name: exit $want"
  else fail "$name: exit $want" "exit $code"
  fi
}
printf 'ACGT\n' >none.fa
bad 'neither FASTA nor FASTQ' 3 'byte 0' none.fa 3
bad 'no end of zeros'         3 'byte 0: 0x00 is neither' /dev/zero 3
: >empty.fa
bad 'an empty file'           3 'byte 0: the file has no record' empty.fa 5
printf '>a\rACGTACGT\r>b\rAC\r' >cr.fa
bad 'lines that end in CR'    3 'byte 3: a CR inside a header' cr.fa 3
printf '@a\rACGT\r+\rIIII\r' >cr.fq
bad 'lines of FASTQ that do'  3 'byte 3: a CR inside a header' cr.fq 3
bad 'K of 32'                 2 'K: .*1 to 31' short.fa 32
bad 'K that is no number'     2 'K: .*three'   short.fa three
bad 'an unknown backend'      2 'nearest: host' made.fa 11 --backend hots
bad 'K of 17 in hive'         2 'K: 17' made.fa 17 --design hive
bad 'K of 17 beside digests'  2 'K: 17' made.fa 17 --design ovs --set guide=digest
bad 'a field of no design'    2 "field: there is no 'wide'" made.fa 4 --set wide=1
bad 'a field without a value' 2 '--set: NAME=VALUE' made.fa 4 --set segment
bad 'a field of another one'  2 'a field of design hkv' made.fa 4 --design hive --near 4Ki
bad 'no such file'            2 'absent'       absent.fa 3
bad 'a table above memory'    2 '--capacity'   short.fa 3 --capacity 200000Gi

# Files whose records have no k-mer, and one that begins with a byte order mark.
printf '>a\nNNNNNNNN\n>b\n>c\nAC\nGT\n' >none.fa
printf '@a\nACGT\n+\nIIII\n@b\n\n+\n\n' >none.fq
for file in none.fa none.fq; do
  for how in '' --histogram '--threads 4' '--design hive' --lenient; do
    # shellcheck disable=SC2086
    kmer $file 5 $how
    if [ $code = 0 ] && [ "$(fact counted) $(fact distinct) $(fact exact)" = '0 0 true' ]; then pass "$file $how: no k-mer"
    else fail "$file $how: no k-mer" "exit $code: $(cat err)"; fi
  done
done
for file in short.fa none.fq; do
  kmer $file 3
  cp out want && { printf '\357\273\277'; cat $file; } >mark.fa && kmer mark.fa 3
  if [ $code = 0 ] && diff <(grep -v '_s"\|"file"' want) <(grep -v '_s"\|"file"' out) >/dev/null; then pass "$file behind a byte order mark"
  else fail "$file behind a byte order mark" "exit $code: $(cat err)"; fi
done

finish
