# SPDX-License-Identifier: Apache-2.0
#
# t_cli.sh - tests of the command: every example of the help pages, of the README and of doc/hive.md works; every usage
# error has its exit code and one line that suggests the right word; output that cannot be written is an error.
#
# Examples are the lines of the section EXAMPLES of `heddle VERB --help` that begin with heddle or printf, and in
# README.md and doc/hive.md such lines, and lines that begin with ./, of blocks fenced as ```sh. They run in order in
# one empty folder, so a line may use the output of an earlier one. A ./ line is only parsed, because it would repeat
# the build. A line with $HEDDLE_DATA is skipped if the variable is not set.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
words=$work/err
mkdir "$work/bin" "$work/here" && ln -s "$HEDDLE" "$work/bin/heddle" && cd "$work/here" || exit 1
PATH=$work/bin:$PATH

# ---- Examples --------------------------------------------------------------------------------------------------------

# example WHERE LINE: succeeds, and says nothing on standard error.
example() {
  local line=$2
  if [[ $line == *'$HEDDLE_DATA'* && -z ${HEDDLE_DATA:-} ]]; then skip "$1: $line" "no HEDDLE_DATA"; return; fi
  guard bash -c "$line" >"$work/out" 2>"$work/err" </dev/null
  local code=$?
  if [ $code != 0 ]; then fail "$1: $2" "exit code $code"
  elif [ -s "$work/err" ]; then fail "$1: $2" "it spoke on standard error"
  else pass "$1: $2"
  fi
}

verbs=$(heddle --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for verb in '' $verbs; do
  heddle $verb --help >"$work/help" 2>"$work/err" || fail "heddle $verb --help" "exit code $?"
  mapfile -t lines < <(sed -n '/^EXAMPLES$/,$p' "$work/help" | grep -E '^ +(heddle|printf) ' | sed 's/^ *//')
  if [ ${#lines[@]} = 0 ]; then fail "heddle $verb --help has examples" "none was found"; fi
  for line in "${lines[@]}"; do example "heddle${verb:+ $verb} --help" "$line"; done
done

for page in README.md doc/hive.md; do
  [ -f "$top_srcdir/$page" ] || continue
  mapfile -t lines < <(sed -n '/^```sh$/,/^```$/p' "$top_srcdir/$page" | sed 's/^\$ //' | grep -E '^(heddle|printf|\./)')
  if [ ${#lines[@]} = 0 ]; then fail "$page has examples" "none was found"; fi
  for line in "${lines[@]}"; do
    if [[ $line != ./* ]]; then example "$page" "$line"; continue; fi
    script=${line%% *}
    if [ -f "$top_srcdir/$script" ] && bash -n "$top_srcdir/$script" 2>"$work/err"; then pass "$page: $line is there"
    elif [ "$script" = ./configure ] || [ "$script" = ./heddle ]; then pass "$page: $line is made by the build"
    else fail "$page: $line" "there is no such script, or bash cannot read it"
    fi
  done
done

# The commands that run suggests next work, and fit the table: for a design with one policy run suggests no other policy
# and no sweep.
for case in 'hkv.serve.ref buckets=4 slots=16 batch=64x20 keys=uniform:200' 'hive.mixed.ref buckets=4 slots=8 batch=64x4 keys=uniform:60' \
            'hive.find.tile buckets=4 slots=8 batch=16x4 keys=uniform:60'; do
  read -r -a word <<<"$case"
  heddle run "${word[@]}" >"$work/next" 2>"$work/err"
  mapfile -t lines < <(sed -n '/^Try next$/,$s/^    \(heddle .*\)/\1/p' "$work/next")
  if [ ${#lines[@]} = 0 ]; then fail "run ${word[0]} says what to try next" "nothing"; fi
  for line in "${lines[@]}"; do example "heddle run ${word[0]}" "$line"; done
  grep -E 'policy|sweep' "$work/next" | { if [[ $case == hive* ]]; then none "${word[0]}: no policy to change"; else grep -q sweep && pass "${word[0]}: sizes to try"; fi; }
done

heddle run --kernels hive.find.tile buckets=4 slots=8 hashes=3 batch=16x4 keys=uniform:60 --csv 2>"$work/err" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "buckets") at = i } END { if ($at != 3) print $at }' |
  none "a key of a dictionary may be in as many buckets as it has hashes"

# ---- Mistakes --------------------------------------------------------------------------------------------------------

# bad NAME CODE PATTERN COMMAND...: the exit code, no standard output, and one line on standard error with the pattern.
bad() {
  local name=$1 want=$2 pattern=$3 code
  shift 3
  guard "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  if [ $code != "$want" ]; then fail "$name" "exit code $code, not $want: $*"
  elif [ "$(wc -l <"$work/err")" != 1 ]; then fail "$name" "$(wc -l <"$work/err") lines on standard error, not 1: $*"
  elif ! grep -qE -- "$pattern" "$work/err"; then fail "$name" "the line does not say '$pattern': $*"
  elif [ -s "$work/out" ]; then fail "$name" "it printed results: $*"
  else pass "$name: exit $want, $(head -c 110 "$work/err")"
  fi
}
bytes() { printf "$(printf '\\x%s' "$@")"; } # in hexadecimal

heddle gen zipf:0.99,1000 --requests 20k -o good.oracleGeneral >/dev/null || exit 1
heddle gen zipf:0.99,1000 --requests 20k -o good.oracleGeneral.zst >/dev/null || exit 1
sim() { bad "$1" "$2" "$3" heddle sim "$4" "${5-oracleGeneral}" "${6-lru}" "${7-64}" "${@:8}"; }

: >empty
head -c 1000 good.oracleGeneral >short
{ cat good.oracleGeneral; printf 'tail'; } >tailed
printf 'this is no trace, whatever its name says, and it is longer than a record\n' >words
sim 'an empty trace'               3 'empty.*byte 0'            empty
sim 'an empty vscsi trace'         3 'empty.*byte 0'            empty vscsi
sim 'a record cut short'           3 'short.*byte [0-9]+'       short
sim 'bytes after the last record'  3 'tailed.*byte [0-9]+'      tailed
sim 'words instead of records'     3 'words.*byte [0-9]+'       words
sim 'unknown magic'                3 'words.*byte [0-9]+'       words vscsi

size=$(wc -c <good.oracleGeneral.zst)
head -c $((size / 2)) good.oracleGeneral.zst >half.zst
{ bytes 28 b5 2f fd; head -c 4096 good.oracleGeneral; } >random.zst
bytes 28 b5 2f fd 00 a8 02 00 10 31 >window.zst
# A frame of run-length blocks: 4 bytes make 128 KiB less one, 64 KiB make 2 GiB. It has no zero byte, so bash can store
# it.
{ bytes 28 b5 2f fd 00 38; (LC_ALL=C block=$(bytes fa ff 0f 31); for _ in {1..14}; do block=$block$block; done; printf '%s' "$block"); } >bomb.zst
sim 'a truncated .zst'        3 'half.zst.*[0-9]+'   half.zst
sim 'a random .zst'           3 'random.zst.*[0-9]+' random.zst
sim 'a .zst that wants 2 GiB' 3 'window.zst.*[0-9]+' window.zst
sim 'a decompression bomb'    3 'bomb.zst.*[0-9]+'   bomb.zst txt
sim 'the same as CSV'         3 'bomb.zst.*[0-9]+'   bomb.zst csv
peak=
[ -x /usr/bin/time ] && peak=$(/usr/bin/time -f %M heddle sim bomb.zst txt lru 64 2>&1 >/dev/null | tail -n 1)
if [ -z "$peak" ] || [[ ${HD_SANITIZE:-} == *-fsanitize* ]]; then skip 'a bomb stays under 64 MiB' 'no time(1), or a sanitizer takes memory'
elif [ "$peak" -lt 65536 ]; then pass "a bomb stays under 64 MiB: $peak KiB"
else fail 'a bomb stays under 64 MiB' "$peak KiB"
fi

printf '10,1,100\n20,2,200\n30,x,300\n40,4,400\n' >bad.csv
printf '1,10\n2\n' >columns.csv
sim 'a CSV field that is no number' 3 'bad.csv.*(line|row) 3.*column 2'     bad.csv csv,key=1,time=2
sim 'a CSV row that is too short'   3 'columns.csv.*(line|row) 2.*column 2' columns.csv csv,key=2
if heddle sim bad.csv csv,key=1,time=2 lru 64 --lenient --json >"$work/out" 2>"$work/err" &&
  grep -q '"skipped": 1' "$work/out" && grep -q '"requests": 3' "$work/out"; then pass '--lenient counts the bad row and goes on'
else fail '--lenient counts the bad row and goes on' "$(head -c 300 "$work/out")"
fi

bad 'an unknown verb'         2 "nearest: sim"      heddle simulate
bad 'an unknown verb, near'   2 "nearest: kmer"     heddle kmers
bad 'no verb that begins so'  2 "nearest: doctor"   heddle doc
bad 'an unknown option'       2 'nearest: --slots'  heddle sim good.oracleGeneral oracleGeneral lru 64 --slotz 4
bad 'an unknown short option' 2 "'Z'"               heddle sim good.oracleGeneral oracleGeneral lru 64 -Z
bad 'an option without value' 2 'requires an argument' heddle sim good.oracleGeneral oracleGeneral lru 64 --slots
bad 'too few words'           2 'TRACE .FORMAT'    heddle sim
bad 'too many words'          2 'too many'          heddle sim good.oracleGeneral oracleGeneral lru 64 128
bad 'an unknown list'         2 'nearest: policies' heddle list policy
sim 'an unknown policy'       2 'nearest: lru'              good.oracleGeneral oracleGeneral lruu
sim 'one unknown of two'      2 'nearest: lfu'              good.oracleGeneral oracleGeneral lru,lfuu
sim 'an unknown format'       2 'nearest: oracleGeneral'    good.oracleGeneral oracleGenral
sim 'an unknown format option' 2 'kee'                      bad.csv csv,kee=2
bad 'an unknown design'       2 'nearest: hkv'      heddle run hvk.serve.ref
bad 'an unknown operation'    2 'nearest: find'     heddle run hkv.fnd.ref
bad 'an unknown variant'      2 'nearest'           heddle run hkv.serve.reff
bad 'an unknown kernel'       2 'heddle list kernels' heddle run --kernels hkv.find.warped
bad 'a kernel of other operations' 2 'heddle list kernels' heddle run --kernels hkv.erase.tlpv2
bad 'a kernel that cannot'    2 'pipeline cannot.*16' heddle run --kernels hkv.find.pipeline slots=10 batch=64x10
bad 'a table for no fixture'    2 'at most 1048576'   heddle run --kernels hkv.find.ref capacity=4Mi
bad 'an unknown field'        2 'nearest: policy'   heddle run hkv.serve.ref polcy=lru
bad 'an unknown source'       2 'nearest: zipf'     heddle run hkv.serve.ref keys=zpf:1,10
bad 'an unknown admission'    2 'nearest: always'   heddle sim good.oracleGeneral oracleGeneral lru 64 --admit alway
sim 'a size that is no number'        2 'size.*abc'         good.oracleGeneral oracleGeneral lru abc
sim 'a size with a unit that is none' 2 'size.*10Qi'        good.oracleGeneral oracleGeneral lru 10Qi
sim 'a negative size'                 2 'size.*-5'          good.oracleGeneral oracleGeneral lru -- -5
sim 'an empty item'                   2 'SIZES.*empty'      good.oracleGeneral oracleGeneral lru 64,,128
sim 'more than all of the keys'       2 'size.*101'         good.oracleGeneral oracleGeneral lru 101%
sim 'none of the keys'                2 'size.*0%'          good.oracleGeneral oracleGeneral lru 0%
sim '0 slots'                         2 'slots.*2 to 4096'  good.oracleGeneral oracleGeneral lru 64 --slots 0
sim '4097 slots'                      2 'slots.*2 to 4096'  good.oracleGeneral oracleGeneral lru 64 --slots 4097
sim 'a value that is too long'        2 'values.*65536'     good.oracleGeneral oracleGeneral lru 64 --values 65537
sim 'a capacity above memory'         2 'size.*needs? .*iB.*has'   good.oracleGeneral oracleGeneral lru 1024Gi
sim 'values above memory'             2 'size.*needs? .*iB.*has'   good.oracleGeneral oracleGeneral lru 1Gi --values 65536
bad '0 slots, in a case'              2 'slots.*2 to 4096'         heddle run hkv.serve.ref slots=0
bad 'a long value, in a case'         2 'value.*65536'             heddle run hkv.serve.ref value=65537
bad 'a capacity above memory, in a case' 2 'capacity.*needs? .*iB' heddle run hkv.serve.ref capacity=1024Gi
bad 'a saved table of two rows'       2 '--save'                   heddle sim good.oracleGeneral oracleGeneral lru,lfu 64 --save x
sim 'a trace that is not there'       2 'absent'                   absent
mkdir folder
sim 'a folder'                        2 'folder'                   folder
bad 'an unknown strategy'         2 'nearest: pct'            heddle sched hkv.find.tlpv1 --strategy pct2
bad 'a kernel for no such op'     2 'tlpv2 does not run erase' heddle sched hkv.erase.tlpv2
bad 'a table too narrow for one of two' 2 'coalesced cannot run this table' heddle sched hkv.find.tlpv1 slots=4 + hkv.find.coalesced slots=16
bad 'another kernel, and no page'    2 'needs --html'         heddle explain hkv.find.tlpv1 --beside warp
bad 'another kernel that is none'    2 "no 'wrap'"            heddle explain hkv.find.tlpv1 --beside wrap --html page.html
bad 'a page in no folder'            4 '--html'               heddle sched hkv.find.tlpv1 --html nowhere/page.html
bad 'a page of two bugs'             2 'one NAME'             heddle museum no_release slot_cas_only --html page.html
bad 'a page of a bug of no kernel'   2 'no bug of kernels'    heddle museum lfu_wraps --html page.html
bad 'a case of no operation'      2 'one operation'           heddle explain hkv.serve.tlpv1
bad 'a reference of no operation' 2 'one operation'           heddle explain hkv.serve.ref
bad 'a reference without items'   2 'export has no items'     heddle explain hkv.export.ref
bad 'two references at once'      2 'one batch at a time'     heddle explain hkv.find.ref + hkv.find.ref
bad 'a table too large to draw'   2 'more than 1024 slots'    heddle explain hkv.find.ref buckets=64 slots=128
bad 'an unknown policy, explained' 2 'policy.*nope'           heddle explain policy=nope
bad 'an expression that is none'  2 'policy.*column'          heddle explain 'policy=expr:on_insert=nothing'
bad 'a word of no subject'        2 "there is no 'slot='; nearest: slots" heddle explain policy=lru slot=4
bad 'a word without a value'      2 'NAME=VALUE'              heddle explain policy=lru slots
bad 'a policy of many buckets'    2 'buckets.*1, or 2'        heddle explain policy=lru buckets=3
bad 'a policy of many slots'      2 'slots.*more than 256'    heddle explain policy=lru slots=300
bad 'a kernel beside a policy'    2 '--beside'                heddle explain policy=lru --beside tlpv1 --html x.html
bad 'a bucket that is none'       2 'bucket.*64'              heddle explain trace=good.oracleGeneral bucket=64
bad 'a bucket without requests'   2 'skip.*requests'          heddle explain trace=good.oracleGeneral bucket=1 skip=1M
bad 'keys beside a trace'         2 'keys.*trace'             heddle explain trace=good.oracleGeneral keys=uniform:3
bad 'a trace to explain that is not there' 2 'absent'         heddle explain trace=absent bucket=1
bad 'growth of no design'         2 'design'                  heddle explain grow=nothing
bad 'growth all at once'          2 'bucket by bucket'        heddle explain grow=hkv
bad 'growth to fewer buckets'     2 'to.*more than the 4'     heddle explain grow=hive buckets=4 to=3
bad 'a lock that is no word'      2 'ordered.*group3 is'      heddle explain lock=ordered
bad 'a lock that is none'         2 'nearest: group3'         heddle explain lock=grop3
bad 'a role that is none'         2 "'X'"                     heddle explain lock=group3 batches=RX
bad 'a plot of unknown ending'        2 '--plot.*svg'              heddle sweep zipf:0.99,100 --plot curves.gif
bad 'curves in no folder'             4 'none/x.csv'               heddle sweep zipf:0.99,100 --requests 100 --sizes 50% --output none/x.csv
bad 'a kernel that is none'           2 'all: ref, tlpv1, tlpv2, pipeline, warp, coalesced, direct, batched, tile, wabc, quad, probe16, probe4, probe8, probe32, flip, sorted, wide, chunk, segments, phase$' heddle run hkv.find.tlpv3
bad 'a kernel of another backend'     2 'ref does not run on backend host; there are tlpv1, tlpv2' heddle run hkv.find.ref backend=host
bad 'a curve of a table'              2 'lru has buckets'          heddle curve zipf:0.99,100 -p lru
bad 'a curve in bytes, without sizes' 2 'no sizes'                 heddle curve zipf:0.99,100 --sizes 1MiB
bad 'a sample of nothing'             2 'keeps no key'             heddle curve zipf:0.99,100 --sample 0.0
bad 'a sample without a key'          3 'the rate keeps no key'    heddle curve zipf:0.99,100 --sample 0.000001
bad 'a sample that says nothing'      3 'say no size'              heddle curve zipf:0.99,100 --sample 50
# A key whose size changes: each size is replayed.
printf '1,10\n2,20\n1,30\n3,5\n2,20\n1,10\n2,25\n3,5\n4,50\n1,10\n' >resized.txt
{ heddle curve resized.txt csv,key=1,size=2,header=0 --sizes 20B,40B,60B --csv | awk -F, '{ print $6, $3 }' >got
  heddle sim resized.txt csv,key=1,size=2,header=0 full:lru 20B,40B,60B --csv | awk -F, '{ print $7, (NR > 1 ? "replay" : "method") }' | diff - got; } 2>&1 |
  none 'a curve of keys that change their sizes'
# Samples, ranges of sizes, and exact caches in lanes.
bad 'a sample of a table'         2 'lru is a table'              heddle sweep zipf:0.99,100 -p full:lru,lru --sample 1/2
bad 'a sample of next requests'   2 'full:belady reads'           heddle sweep zipf:0.99,100 -p full:belady --sample 1/2
bad 'a sample over time'          2 '--sample or --every'         heddle sweep zipf:0.99,100 -p full:lru --sample 1/2 --every 5
bad 'a sample of no part'         2 'outside 1'                   heddle sweep zipf:0.99,100 -p full:lru --sample 1/0
bad 'a table kept of a range'     2 '--save'                      heddle sim good.oracleGeneral oracleGeneral lru 8..64:3 --save range.heddle
bad 'a range of one size'         2 'outside 2'                   heddle sweep zipf:0.99,100 --sizes 5..30:1
bad 'a range without a number'    2 'no range FIRST'              heddle sweep zipf:0.99,100 --sizes 5..30
bad 'a range that falls'          2 'does not ascend'             heddle sweep zipf:0.99,100 --sizes 30..5:9
bad 'a range in two units'        2 'different units'             heddle sweep zipf:0.99,100 --sizes 5..30%:9
bad 'a policy without a lane'     2 'has no full:lfu, but full:lru' heddle sweep zipf:0.99,100 -p full:lru,full:lfu --backend cuda
bad 'windows in lanes'            2 '--every'                     heddle sweep zipf:0.99,100 -p full:lru --backend host --every 9
bad 'lanes of bytes'              2 '1MiB.*not of bytes'          heddle sweep zipf:0.99,100 -p full:lru --backend host --sizes 1MiB
bad 'a width that is no power'    2 'no power of two'             heddle sweep zipf:0.99,100 -p full:lru --lane-width 3
CUDA_VISIBLE_DEVICES='' bad 'lanes without a device' 4 'no CUDA device' heddle sweep zipf:0.99,100 -p full:lru --backend cuda
heddle sweep zipf:0.99,100 --requests 100 -p full:lru --sizes 9 --sample 0.000001 >"$work/out" 2>"$work/err"
if [ $? = 3 ] && grep -q 'the rate keeps no key' "$work/err"; then pass 'a sample that keeps no key'; else fail 'a sample that keeps no key'; fi
lanes_as() { # OPTION...: the CSV of lanes on this machine and of caches one by one, without their rates
  local backend
  for backend in ref host; do
    heddle sweep good.oracleGeneral oracleGeneral -p full:lru,full:fifo,full:clock,full:sieve,full:s3fifo,full:slru,full:2q,full:arc \
      --sizes 1,2..90:9,5%..60%:4 "$@" --backend $backend 2>&1 | sed 's/[^,]*\(,[0-9]*\)$/\1/' >"sweep.$backend"
  done
  [ "$(wc -l <sweep.ref)" -gt 20 ] || echo "no rows"
  diff sweep.ref sweep.host
}
{ lanes_as; lanes_as --warmup 70 --seeds 2; lanes_as --sample 1/3 --seed 5; } | none 'lanes give the rows of caches one by one'
{ heddle sweep zipf:0.9,50k --requests 50k -p full:sieve,full:s3fifo --sizes 1536..6144:3 --sample 1/10 | cut -d, -f1,4,8 >got
  heddle curve zipf:0.9,50k --requests 50k -p full:sieve,full:s3fifo --sizes 1536,6144 --points 3 --sample 10% --csv | cut -d, -f1,2,7 | diff - got; } 2>&1 |
  none 'a sample has the miss ratios of a curve'
bad 'load factors that fall'          2 'ascend'                   heddle sweep --load-factors 0.5,0.25
bad 'a plot of a run to nowhere'      2 '--plot.*svg'               heddle run hkv.find.ref --plot run.png
bad 'a plot of no report'             2 'absent.json'              heddle plot absent.json
bad 'a plot as CSV'                   2 'no CSV'                   heddle plot --csv
bad 'a plot that is too narrow'       2 '280 to 2000'              heddle plot --width 100
echo '# nothing to time' >none.txt
bad 'a list of no cases'              3 'none.txt.*no case'        heddle bench none.txt
bad 'a table of points without an end' 3 '/dev/zero.*4 MiB'        heddle bench --short=/dev/zero
printf 'operation\0rate' >zero.tsv
bad 'a table of points with a zero'   3 'zero.tsv.*byte 9'         heddle bench --short=zero.tsv
bad 'requests and load factors'       2 '--load-factors'           heddle sweep zipf:0.99,100 --load-factors 0.5

bad 'a name of two lines'             2 "'no\?file\?\[2J'"      heddle sim $'no\nfile\e[2J' csv lru 64
bad 'a genome of requests'            2 '--requests'              heddle gen genome --requests 5
bad 'requests that have bases'        2 'heddle gen genome'       heddle gen uniform:5 --requests 5 --tandem 0
bad 'no format of a genome'           2 'fasta, fastq'            heddle gen genome -o genome.csv
bad 'an unknown format of a genome'   2 'fasta or fastq'          heddle gen genome --format csv
bad 'FASTQ without reads'             2 'coverage'                heddle gen genome -o genome.fq
bad 'reads without a number'          2 '--coverage'              heddle gen genome --errors 0.1 -o genome.fa
bad 'reads longer than their genome'  2 'longer'                  heddle gen genome --bases 9 --coverage 1
bad 'a genome of repeats and more'    2 'together'                heddle gen genome --interspersed 0.7 --tandem 0.7
bad 'a genome without bases'          2 '--bases'                 heddle gen genome --bases 0
bad 'a genome without a folder'       4 'no/genome.fa'            heddle gen genome --bases 9 -o no/genome.fa
# what is read is not replaced by what is made of it, whatever it is called
cp good.oracleGeneral kept.svg && ln -s kept.svg link.svg
printf '>kept\nGATTACA\n' >kept.fa
bad 'a table saved over its trace'    2 '--save.*what is read'     heddle sim kept.svg oracleGeneral lru 64 --save ./kept.svg
bad 'a table saved over a genome'     2 '--output.*what is read'   heddle kmer kept.fa 3 -o kept.fa
bad 'curves over their trace'         2 '--output.*what is read'   heddle sweep kept.svg oracleGeneral --sizes 50% -o kept.svg
bad 'a plot over its report'          2 '--output.*what is read'   heddle plot kept.svg -o ./kept.svg
bad 'a plot over its trace'           2 '--plot.*what is read'     heddle sweep oracleGeneral:kept.svg --sizes 50% --plot link.svg
mkdir seeds && echo seed >seeds/one && cp good.oracleGeneral part.oracleGeneral
bad 'a finding kept over its input'   2 '--output.*what is read'   heddle fuzz case seeds/one --runs 5 -o ./seeds/one
bad 'a finding kept over its corpus'  2 '--output.*what is read'   heddle fuzz case --corpus seeds --runs 5 -o seeds/one
bad 'a part of a trace over all of it' 2 '--limit.*what is read'   heddle trace convert part.oracleGeneral oracleGeneral ./part.oracleGeneral oracleGeneral --limit 5
heddle trace convert part.oracleGeneral oracleGeneral part.oracleGeneral oracleGeneral >"$work/out" 2>"$work/err" && cmp -s part.oracleGeneral good.oracleGeneral
code=$?
if [ $code = 0 ] && [ "$(cat seeds/one)" = seed ]; then pass 'a trace in its own place stays whole'; else fail 'a trace in its own place stays whole' "exit code $code"; fi
bad 'a trace made of itself'          2 '--output.*what is read'   heddle gen oracleGeneral:kept.svg --requests 5 -o kept.svg --format csv
if cmp -s kept.svg good.oracleGeneral && [ "$(wc -l <kept.fa)" = 2 ]; then pass 'and they are as they were'; else fail 'and they are as they were'; fi
rm kept.svg link.svg kept.fa

heddle sim good.oracleGeneral oracleGeneral lru 256 --save whole.heddle --csv >/dev/null || exit 1
size=$(wc -c <whole.heddle)
{ head -c 1000 whole.heddle; bytes ff; tail -c +1002 whole.heddle; } >flipped.heddle
cmp -s whole.heddle flipped.heddle && { head -c 1000 whole.heddle; bytes 00; tail -c +1002 whole.heddle; } >flipped.heddle
head -c $((size - 1)) whole.heddle >cut.heddle
bad 'a saved table that is none'         3 'words'   heddle inspect words
bad 'a saved table with a byte changed'  3 'flipped' heddle inspect flipped.heddle
bad 'a saved table cut short'            3 'cut'     heddle inspect cut.heddle
bad 'a saved table that is not there'    2 'absent'  heddle inspect absent
bad 'a file that is no table'            3 'words'   heddle recover words
bad 'a range of what is no table'         3 'words'   heddle range words
bad 'a range from no number'              2 'FROM'    heddle range whole.heddle one
bad 'a range to no number'                2 'TO'      heddle range whole.heddle 1 0x
bad 'a range of no entries'               2 'limit'   heddle range whole.heddle --limit 0
for file in flipped cut; do
  heddle check whole.heddle $file.heddle --csv >"$work/out" 2>"$work/err"
  code=$?
  if [ $code = 3 ] && grep -q '^whole.heddle,true' "$work/out" && grep -q "^$file.heddle,false" "$work/out"; then pass "check tells $file from whole"
  else fail "check tells $file from whole" "exit code $code"
  fi
done

# ---- Output that does not arrive, and being stopped ------------------------------------------------------------------

(ulimit -f 8; heddle gen uniform:1000 --requests 100k -o large.csv) >"$work/out" 2>"$work/err"
code=$?
# What counts lines that run cannot write its counts either, and says so.
if [ $code = 4 ] && [ "$(grep -vc '^libgcov ' "$work/err")" = 1 ] && ! ls large.csv* >/dev/null 2>&1; then pass 'a file larger than may be: exit 4, and no part is left'
else fail 'a file larger than may be: exit 4, and no part is left' "exit code $code: $(ls -d large.csv* 2>/dev/null)"; fi
if [ -w /dev/full ]; then
  heddle list >/dev/full 2>"$work/err"
  code=$?
  if [ $code = 4 ] && [ "$(wc -l <"$work/err")" = 1 ]; then pass 'a full disk: exit 4'; else fail 'a full disk: exit 4' "exit code $code"; fi
  heddle sim --help >/dev/full 2>"$work/err"
  code=$?
  if [ $code = 4 ]; then pass 'a full disk under --help: exit 4'; else fail 'a full disk under --help: exit 4' "exit code $code"; fi
else
  skip 'a full disk: exit 4' 'no /dev/full'
fi
heddle list >&- 2>"$work/err"
code=$?
if [ $code = 4 ]; then pass 'standard output closed: exit 4'; else fail 'standard output closed: exit 4' "exit code $code"; fi
mkfifo "$work/left"
exec 5<>"$work/left" 6>"$work/left" 5<&- # 6: a pipe whose reader has left
heddle list >&6 2>"$work/err"
code=$?
exec 6>&-
if [ $code = 4 ]; then pass 'a reader that left: exit 4'; else fail 'a reader that left: exit 4' "exit code $code"; fi

signalled 'Ctrl-C' 130 INT caught heddle sweep zipf:0.99,4Mi --requests 1G --sizes 1000
if [ -s "$work/out" ]; then fail 'Ctrl-C: nothing is printed'; else pass 'Ctrl-C: nothing is printed'; fi
signalled 'Ctrl-C among schedules' 130 INT caught heddle sched hkv.find.tlpv1 --schedules 1000M
signalled 'Ctrl-C that the museum did not hear' 130 INT parent heddle museum --sound --fixtures 1000000 --schedules 1000000 no_release

# ---- Odd surroundings ------------------------------------------------------------------------------------------------

OMP_NUM_THREADS=20000 heddle run hkv.serve.ref batch=4096x4 >"$work/out" 2>"$work/err"
code=$?
if [ $code = 0 ]; then pass 'twenty thousand threads'; else fail 'twenty thousand threads' "exit code $code"; fi
if [[ ${HD_SANITIZE:-} == *-fsanitize* ]]; then skip 'a stack of 64 KiB' 'a sanitizer takes more'
else
  (ulimit -s 64; heddle sim good.oracleGeneral oracleGeneral lru 1%) >"$work/out" 2>"$work/err"
  code=$?
  if [ $code = 0 ]; then pass 'a stack of 64 KiB'; else fail 'a stack of 64 KiB' "exit code $code"; fi
fi
if [ "$(ARGP_HELP_FMT=rmargin=0 guard heddle sim --help 2>&1 | head -c 100000 | wc -c)" -lt 100000 ]; then pass 'help has an end whatever its margin is to be'
else fail 'help has an end whatever its margin is to be'; fi
(trap '' CHLD; heddle museum lfu_wraps) >"$work/out" 2>"$work/err"
code=$?
if [ $code = 0 ]; then pass 'a parent that waits for no child'; else fail 'a parent that waits for no child' "exit code $code"; fi
heddle museum lfu_wraps >&- 2>"$work/err"
code=$?
if [ $code = 4 ] && grep -q 'standard output' "$work/err"; then pass 'standard output closed, and another process: it is said what is wrong'
else fail 'standard output closed, and another process: it is said what is wrong' "exit code $code"; fi

heddle >"$work/out" 2>"$work/err"
code=$?
if [ $code = 2 ] && grep -q '^Usage: heddle' "$work/err"; then pass 'no verb: usage, exit 2'; else fail 'no verb: usage, exit 2' "exit code $code"; fi

for word in help --help -h; do
  heddle help "$word" >"$work/out" 2>"$work/err"
  code=$?
  if [ $code = 0 ] && cmp -s "$work/out" <(heddle --help); then pass "help $word: the overview"; else fail "help $word: the overview" "exit code $code"; fi
done

# ---- Forms of output -------------------------------------------------------------------------------------------------

# form NAME COMMAND...: its JSON has a schema that doc/output.md describes, and its CSV has as many fields in every row.
form() {
  local name=$1 schema
  shift
  "$@" --json >"$work/out" 2>"$work/err" || { fail "$name" "exit code $?"; return; }
  schema=$(sed -n 's/^  "schema": "\([^"]*\)".*/\1/p' "$work/out") # a story in it has a schema of its own
  if ! grep -qxE "### \`?$schema\`?" "$top_srcdir/doc/output.md"; then fail "$name" "doc/output.md does not say what $schema is"; return; fi
  for key in $(grep -oE '^ +"[a-z_0-9]+":' "$work/out" | tr -d ' ":' | sort -u); do
    grep -qE "\`$key\`" "$top_srcdir/doc/output.md" || { fail "$name" "doc/output.md does not say what $key is"; return; }
  done
  if command -v python3 >/dev/null && ! python3 -m json.tool <"$work/out" >/dev/null 2>"$work/err"; then fail "$name" 'it is no JSON'; return; fi
  "$@" --csv >"$work/out" 2>"$work/err" || { fail "$name --csv" "exit code $?"; return; }
  if [ "$(sed 's/"[^"]*"//g; s/[^,]//g' "$work/out" | sort -u | wc -l)" != 1 ]; then fail "$name" 'rows of its CSV differ in length'; return; fi
  pass "$name: $schema"
}
form 'doctor'  heddle doctor
form 'list'    heddle list
form 'run'     heddle run hkv.serve.ref batch=64x10
form 'kernels' heddle run --kernels hkv.serve.ref slots=10 buckets=4 batch=64x10 keys=ycsb:a,1000
form 'sched'   heddle sched hkv.erase.tlpv1 batch=2x1 --replay 3:1,9:2
form 'sched, a second case that wants a wide table' heddle sched hkv.find.tlpv1 + hkv.find_missed.coalesced --weak --schedules 5
form 'museum'  heddle museum no_release key_before_digest
form 'museum --list' heddle museum --list
form 'puzzle'  heddle puzzle tile "$top_srcdir/learn/puzzles/tile/model.c"
form 'puzzle list' heddle puzzle
form 'diff'    heddle diff tlpv1 ref --case hkv.insert_and_evict
form 'explain' heddle explain hkv.find.warp seed=5
form 'explain the reference' heddle explain hkv.insert_or_assign.ref dual=1 seed=7
form 'explain a policy' heddle explain policy=epoch_lfu epoch_every=8
form 'explain a trace' heddle explain trace=good.oracleGeneral bucket=0 skip=3
form 'explain growth' heddle explain grow=hive seed=2
form 'explain a lock' heddle explain lock=group3
form 'sim'     heddle sim good.oracleGeneral oracleGeneral lru,lfu 64,1%
form 'sim of exact caches' heddle sim good.oracleGeneral oracleGeneral lru,full:lru,full:random 64,1% --seeds 3
form 'sim of windows' heddle sim good.oracleGeneral oracleGeneral lru,full:belady 64,1% --every 100
form 'sweep of windows' heddle sweep good.oracleGeneral oracleGeneral --sizes 10%,50% --every 100
form 'sweep'   heddle sweep good.oracleGeneral oracleGeneral --sizes 10%,50%
form 'sweep in lanes' heddle sweep good.oracleGeneral oracleGeneral -p full:lru,full:sieve --sizes 10%..50%:3 --sample 1/2 --backend host
form 'curve'   heddle curve uniform:2000 --requests 5000 -p full:lru,full:lfu --sizes 100%,50% --sample 50% --exact
form 'fill'    heddle sweep --load-factors 0.5,1.5 --capacity 1Ki
form 'inspect' heddle inspect whole.heddle
form 'range'   heddle range whole.heddle 0 1000000 --limit 5
form 'check'   heddle check whole.heddle
heddle run ovs.insert_or_assign.ref capacity=1Ki batch=64x2 keys=uniform:90 file=whole.image >/dev/null
form 'recover' heddle recover whole.image
form 'inspect of a table in a file' heddle inspect whole.image
bad 'a judge of a table with entries' 2 'has entries already' heddle run ovs.insert_or_assign.ref capacity=1Ki \
  batch=64x2 keys=uniform:90 file=whole.image --judge
form 'gen'     heddle gen zipf:1.0,100 --requests 1k -o gen.oracleGeneral
form 'gen genome' heddle gen genome --bases 1k --coverage 1 -o gen.fq.zst
form 'stat'    heddle trace stat good.oracleGeneral oracleGeneral
form 'convert' heddle trace convert good.oracleGeneral oracleGeneral good.csv csv
form 'print'   heddle trace print good.oracleGeneral oracleGeneral --limit 3
form 'kmer'    heddle kmer tiny.fa 3
form 'kmer --histogram' heddle kmer tiny.fa 3 --histogram
form 'classify' heddle classify tiny.fa tiny.fa --k 3

odd=$(printf 'odd, "\xff.heddle')
cp whole.heddle "$odd" && heddle check "$odd" whole.heddle --csv >"$work/out" 2>"$work/err"
if [ "$(LC_ALL=C sed -n 2p "$work/out")" = "\"${odd//\"/\"\"}\",true,256,$size," ]; then pass 'CSV quotes a name with comma and quote'
else fail 'CSV quotes a name with comma and quote' "$(cat "$work/out")"
fi
heddle check "$odd" --json >"$work/out" 2>"$work/err"
if grep -qF '"file": "odd, \"?.heddle"' "$work/out"; then pass 'JSON stays UTF-8 when a name is not'
else fail 'JSON stays UTF-8 when a name is not' "$(cat "$work/out")"
fi
twice=$'whole\n\e[2J.heddle'
cp whole.heddle "$twice" && heddle check "$twice" whole.heddle >"$work/out" 2>"$work/err"
if [ "$(wc -l <"$work/out")" = 3 ] && grep -qF 'whole??[2J.heddle ' "$work/out"; then pass 'text has a line a row, and nothing that a terminal obeys'
else fail 'text has a line a row, and nothing that a terminal obeys' "$(cat -v "$work/out")"
fi
heddle check whole.heddle >"$work/out" 2>"$work/err"
if [ "$(cat "$work/out")" = "$(printf 'file          whole  entries  bytes\nwhole.heddle  yes        256  %s,%s' "${size%???}" "${size: -3}")" ]
then pass 'text is aligned, with separators'; else fail 'text is aligned, with separators' "$(cat "$work/out")"; fi

if [ -z "${HEDDLE_DATA:-}" ] || ! [ -f "$HEDDLE_DATA/cloudPhysicsIO.oracleGeneral.zst" ]; then skip 'a real trace: 99,411 misses' 'no HEDDLE_DATA'
else
  heddle sim "$HEDDLE_DATA/cloudPhysicsIO.oracleGeneral.zst" oracleGeneral lru 128 --csv >"$work/out" 2>"$work/err"
  if grep -q '^lru,128,128,128,128,113872,99411,' "$work/out"; then pass 'a real trace: 99,411 misses'; else fail 'a real trace: 99,411 misses' "$(cat "$work/out")"; fi
fi

heddle sweep zipf:0.99,1000 --requests 20k --sizes 10%,50% --plot curves.svg >"$work/out" 2>"$work/err"
code=$?
if [ $code = 0 ] && grep -q '<svg' curves.svg; then pass 'a plot is drawn'
else fail 'a plot is drawn' "exit code $code"
fi
heddle sweep zipf:0.99,100 --requests 100 --sizes 50% --plot none/curves.svg >"$work/out" 2>"$work/err"
code=$?
if [ $code = 4 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q 'none/curves.svg' "$work/err" && [ "$(wc -l <"$work/out")" = 3 ]
then pass 'a plot in no folder: exit 4, why, and the results'; else fail 'a plot in no folder: exit 4, why, and the results' "exit code $code"; fi

finish
