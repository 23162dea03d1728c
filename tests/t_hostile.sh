# SPDX-License-Identifier: Apache-2.0
#
# t_hostile.sh - the command under hostile use: pipes as input, signals, limits, closed streams, full disks, missing
# files, odd words. Each line of a table is a command and its exit code; what it printed is checked by fields, not by
# sentences. A line that gives a pattern names the word that the message must have: a file, an option, a number.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
words=$work/err
mkdir "$work/bin" "$work/here" && ln -s "$HEDDLE" "$work/bin/heddle" && cd "$work/here" || exit 1
PATH=$work/bin:$PATH
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
sanitized() { [[ ${HD_SANITIZE:-} == *-fsanitize* ]]; }

# code NAME CODE PATTERN COMMAND: the shell line COMMAND exits with CODE; the first line on standard
# error has PATTERN ("": nothing is checked). Standard output is in $work/out.
code() {
  local name=$1 want=$2 pattern=$3 got
  guard bash -c "$4" >"$work/out" 2>"$work/err" </dev/null
  got=$?
  if [ $got != "$want" ]; then fail "$name" "exit code $got, not $want: $4"
  elif [ -n "$pattern" ] && ! head -n 1 "$work/err" | grep -qE -- "$pattern"; then fail "$name" "no '$pattern': $4"
  else pass "$name: exit $want"
  fi
}
# table: lines CODE | PATTERN | COMMAND of standard input; the command, which may have pipes, is the name.
table() {
  local want pattern command
  while IFS='|' read -r want pattern command; do
    [ -z "$want" ] || code "${command# }" "$((want))" "$(echo $pattern)" "$command"
  done
}
# columns: the CSV of standard input without its times and rates.
columns() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) keep[i] = $i !~ /_s$/ }
           { row = ""; for (i = 1; i <= NF; i++) if (keep[i]) row = row "," $i; print row }'
}
# same NAME WANT COMMAND: the CSV of the command is that of the file WANT, but for times and for the trace's name.
same() {
  guard bash -c "set -o pipefail; $3" 2>"$work/err" </dev/null | columns >"$work/out"
  if cmp -s "$2" "$work/out"; then pass "$1"; else fail "$1" "$(diff "$2" "$work/out" | head -n 6)"; fi
}
# nothing NAME: no file of ours is left behind, by name, here or in $TMPDIR.
nothing() { find . "$TMPDIR" -name '*.part' -o -name '*.run*' -o -name '*heddle-spool*' | none "$1"; }
# writing PID SIGNAL: the command has opened the file that it will rename.
writing() { caught "$@" && compgen -G 'made.*.part' >/dev/null; }

# ---- Pipes as input ----------------------------------------------------------------------------

awk 'BEGIN { for (x = 1; i++ < 300000;) print int((x = (x * 69069 + 1) % 4294967296) / 65536) % 9000 }' >trace.txt
{ echo key,size; sed 's/$/,1/' trace.txt; } >trace.csv
heddle gen zipf:0.9,9000 --requests 100k -o trace.oracleGeneral.zst >"$work/out" || fail 'a trace to read'
mkfifo fifo
sim='lru,lfu 128,1% -t 2 --csv'
heddle sim trace.txt txt $sim | columns >txt.want
heddle sim trace.csv csv $sim | columns >csv.want
heddle sim trace.oracleGeneral.zst oracleGeneral $sim | columns >zst.want
heddle sweep trace.txt txt --sizes 128,1%,10% -t 3 | columns >sweep.want
heddle sim trace.txt txt lru,lfu 128 --limit 1000 --csv | columns >limit.want
for round in 1 2 3; do
  same "a pipe through rows at once, round $round" txt.want "cat trace.txt | heddle sim /dev/stdin txt $sim"
done
same 'a pipe through rows one by one' txt.want "cat trace.txt | heddle sim /dev/stdin txt lru,lfu 128,1% --csv"
same 'a pipe that is called -' txt.want "cat trace.txt | heddle sim - txt $sim"
same 'a file as standard input' txt.want "heddle sim - txt $sim <trace.txt"
same 'a file read from where it stands' txt.want "{ head -c 3 >&2; heddle sim - txt $sim; } < <(echo 12; cat trace.txt)"
same 'a slow pipe' txt.want "{ head -n 1000 trace.txt; sleep 0.2; tail -n +1001 trace.txt; } | heddle sim - txt $sim"
same 'a FIFO' csv.want "cat trace.csv >fifo & heddle sim fifo csv $sim"
same 'a process substitution' csv.want "heddle sim <(cat trace.csv) csv $sim"
same 'a compressed pipe' zst.want "heddle sim - oracleGeneral $sim <trace.oracleGeneral.zst"
same 'a sweep of a pipe' sweep.want "cat trace.txt | heddle sweep - txt --sizes 128,1%,10% -t 3"
same 'a sweep of a FIFO' sweep.want "cat trace.txt >fifo & heddle sweep txt:fifo --sizes 128,1%,10% -t 3"
same 'a pipe without an end' limit.want "{ cat trace.txt; yes 7; } | heddle sim - txt lru,lfu 128 --limit 1000 --csv"
table <<'END_OF_TABLE'
0 | | cat trace.txt | heddle trace stat - txt
0 | | cat trace.txt | heddle trace convert - txt made.csv csv
0 | | cat trace.txt | heddle gen txt:- --requests 10 -o made.txt
0 | | yes 5 | heddle trace print - txt --limit 3
0 | | cat trace.txt | heddle run hkv.serve.ref keys=txt:- batch=64x10
0 | | cat trace.txt | heddle run --kernels hkv.find.ref keys=txt:- batch=16x4 buckets=4 slots=8
0 | | cat trace.txt | heddle sched hkv.find.tlpv1 keys=txt:/dev/stdin -n 3
0 | | printf '>a\nGATTACA\n' | heddle kmer - 3
4 | | heddle sim - txt lru 128 <&-
3 | stdin | heddle sim - txt lru,lfu 128 </dev/null
2 | folder | heddle sim . txt lru 128
0 | | cat trace.txt | TMPDIR=/none heddle sim - txt lru,lfu 128
4 | stdin.*arge | ulimit -f 100; cat trace.txt | heddle sim - txt lru,lfu 128
0 | | ulimit -f 100; cat trace.txt | heddle sweep - txt -p full:lru,full:fifo --sizes 9..128:3 --backend host
END_OF_TABLE
nothing 'pipes leave no file'

# ---- Traces without one request ----------------------------------------------------------------

printf '# a comment\n\n# another\n' >comments.txt
printf '# a comment\r5\r6\r' >cr.txt
printf 'time,key\n' >header.csv
printf 'time,key\r1,5\r2,6\r' >cr.csv
printf '>name\n' >header.fa
printf '@r\nAC\n+\nII\n' >short.fq
printf '\001\n' >bad.txt
table <<'END_OF_TABLE'
3 | comments.txt | heddle sim comments.txt txt lru 128
3 | comments.txt | heddle sim comments.txt txt lru 1%
3 | cr.txt | heddle sim cr.txt txt lru 128
3 | header.csv | heddle sim header.csv csv lru 128
3 | cr.csv | heddle sim cr.csv csv lru 128
3 | bad.txt | heddle sim bad.txt txt lru 128 --lenient
3 | comments.txt | heddle sweep comments.txt txt --sizes 128
3 | comments.txt | heddle trace stat comments.txt txt
3 | header.csv | heddle trace convert header.csv csv none.txt txt
3 | header.csv | heddle trace print header.csv csv
3 | comments.txt | heddle gen txt:comments.txt --requests 5 -o none.txt
3 | comments.txt | heddle run hkv.serve.ref keys=txt:comments.txt
END_OF_TABLE
if [ -e none.txt ]; then fail 'an empty trace makes no file'; else pass 'an empty trace makes no file'; fi

# ---- Counts ------------------------------------------------------------------------------------

# field NAME FIELD WANT COMMAND: that fact, or column of the first row, of the JSON report.
field() {
  local got
  got=$(bash -c "$4 --json" 2>"$work/err" </dev/null | sed -n "s/^ *\"$2\": \([^,]*\),\{0,1\}$/\1/p" | head -n 1)
  if [ "$got" = "$3" ]; then pass "$1: $2 is $3"; else fail "$1" "$2 is '$got', not $3"; fi
}
printf '%s\n' 1 2 1 18446744073709551615 18446744073709551614 18446744073709551613 >reserved.txt
printf '%s\n' 18446744073709551615 >all_reserved.txt
printf '%s\n' 5 5.0 5 abc -1 >mixed.txt
printf 'key,time\n5,1\nabc,x\n6.0,2\n' >mixed.csv
field 'a record without bases' counted 0 'heddle kmer header.fa 3'
field 'a record shorter than k' counted 0 'heddle kmer short.fq 3'
field 'requests for reserved keys' miss_ratio 0.666666666667 'heddle sim reserved.txt txt lru 128'
field 'requests for reserved keys' reserved 3 'heddle sim reserved.txt txt lru 128'
field 'requests for reserved keys, swept' miss_ratio 0.666666666667 'heddle sweep reserved.txt txt --sizes 128'
field 'requests for reserved keys, swept' reserved 3 'heddle sweep reserved.txt txt --sizes 128'
field 'reserved keys alone' miss_ratio null 'heddle sim all_reserved.txt txt lru 128'
field 'keys that are text' hashed 3 'heddle sim mixed.txt txt lru 128'
field 'keys that are text, swept' hashed 3 'heddle sweep mixed.txt txt --sizes 128'
field 'keys that are text, in a bad row' hashed 1 'heddle sim mixed.csv csv lru 128 --lenient'
field 'keys that are text, looked at' hashed 3 'heddle trace stat mixed.txt txt'
field 'keys that are text, converted' hashed 3 'heddle trace convert mixed.txt txt mixed.oracleGeneral oracleGeneral'
field 'keys that are hashed by request' hashed '' 'heddle sim mixed.txt txt,hash=1 lru 128'

# ---- Signals -----------------------------------------------------------------------------------

for signal in INT:130 TERM:143 HUP:129; do
  want=${signal#*:} signal=${signal%:*}
  signalled "SIG$signal under gen" "$want" "$signal" writing heddle gen zipf:0.9,1Mi --requests 100M -o made.oracleGeneral
  nothing "SIG$signal under gen leaves nothing"
  signalled "SIG$signal under gen genome" "$want" "$signal" writing heddle gen genome --bases 64G -o made.fa
  nothing "SIG$signal under gen genome leaves nothing"
  signalled "SIG$signal under sim" "$want" "$signal" caught heddle sweep zipf:0.9,4Mi --requests 1G --sizes 1000,2000 -t 2
  signalled "SIG$signal while a FIFO is opened" "$want" "$signal" asleep heddle sim fifo txt lru 128
done

signalled 'SIGQUIT under gen' 131 QUIT writing heddle gen zipf:0.9,1Mi --requests 100M -o made.oracleGeneral
nothing 'SIGQUIT under gen leaves nothing'
signalled 'SIGTERM while a pipe says nothing' 143 TERM asleep \
  bash -c 'exec heddle sim - txt lru,lfu 128 -t 2 < <(sleep 20)'
signalled 'SIGTERM under sched' 143 TERM caught heddle sched hkv.find.tlpv1 --schedules 1000M
signalled 'SIGHUP under fuzz' 129 HUP parent heddle fuzz table --time 60
# The command waits for its input until the signal is about to be sent.
released() { caught "$@" && touch released; }
signalled 'SIGHUP that is ignored' 0 HUP released \
  bash -c 'exec nohup heddle sim - txt lru 128 < <(until [ -e released ]; do sleep 0.1; done; cat trace.txt)'
endless=(heddle museum --sound --fixtures 1000000 --schedules 1000000 no_release)
signalled 'SIGTERM under museum' 143 TERM parent "${endless[@]}"
ended() { gone "$1" || grep -qs '^State:[[:blank:]]*Z' "/proc/$1/status"; }
# The command first asks the museum for its lists: only the process with these words looks for bugs.
looks() { caught "$@" && child=$(child_of "$1") && grep -qs fixtures=1000000 "/proc/$child/cmdline"; }
# children NAME SIGNAL: the museum's process is gone soon after its command was.
children() {
  local pid child=
  "${endless[@]}" >"$work/out" 2>"$work/err" &
  pid=$!
  wait_until looks $pid TERM
  kill "-$2" $pid
  wait $pid 2>/dev/null
  if [ -z "$child" ]; then fail "$1" 'it had no child'
  elif wait_until ended $child; then pass "$1"
  else fail "$1" "$child goes on"; kill $child
  fi
}
children 'the museum ends with its command' TERM
children 'the museum ends with a command that was killed' KILL

# ---- Results that cannot be saved --------------------------------------------------------------

# printed NAME CODE LINES COMMAND: that exit code, a message, and the report all the same.
printed() {
  guard bash -c "$4" >"$work/out" 2>"$work/err" </dev/null
  local got=$?
  local lines
  lines=$(wc -l <"$work/out")
  if [ $got = "$2" ] && [ -s "$work/err" ] && [ "$lines" -ge "$3" ]; then pass "$1: exit $2"
  else fail "$1" "exit code $got, $lines lines"; fi
}
printf '>a\nGATTACAGATTACA\n' >genome.fa
if [ -w /dev/full ]; then
  printed 'a table that does not fit on the disk' 4 5 'heddle sim trace.txt txt lru 128 --save /dev/full'
  printed 'counts that do not fit on the disk' 4 5 'heddle kmer genome.fa 3 -o /dev/full'
  printed 'lines of reads that do not fit on the disk' 4 5 'heddle classify genome.fa genome.fa --k 3 --reads /dev/full'
  printed 'taxa that do not fit on the disk' 4 5 'heddle classify --build /dev/full genome.fa --k 3'
  printed 'curves that do not fit on the disk' 4 3 'heddle sweep trace.txt txt --sizes 128 -o /dev/full'
  code 'a full disk' 4 '' 'heddle sim trace.txt txt lru 128 >/dev/full'
fi
printed 'a file that is too large' 4 5 \
  'ulimit -f 1; heddle sim trace.txt txt lru 1% --values 4096 --save large | cat; exit ${PIPESTATUS[0]}'
table <<'END_OF_TABLE'
4 | --save | heddle sim trace.txt txt lru 128 --save none/table
4 | --output | heddle kmer genome.fa 3 -o none/table
4 | --build | heddle classify --build none/table genome.fa --k 3
4 | --reads | heddle classify genome.fa genome.fa --k 3 --reads none/lines
4 | --output | heddle sweep trace.txt txt --sizes 128 -o none/curves.csv
2 | folder | heddle sim trace.txt txt lru 128 --save .
4 | | heddle sim trace.txt txt lru 128 >&-
0 | | heddle sim trace.txt txt lru 128 2>&-
END_OF_TABLE
# Of a trace that cannot be read, too: the path is tried before anything is.
printf 'no key\n%s\n' '"' >unread.csv
table <<'END_OF_TABLE'
3 | unread.csv | heddle sim unread.csv csv lru 128
4 | --save | heddle sim unread.csv csv lru 128 --save none/table
END_OF_TABLE
nothing 'what could not be saved leaves nothing'

# ---- Missing and damaged files -----------------------------------------------------------------

heddle sim trace.txt txt lru 128 --save good.heddle >"$work/out" || fail 'a table to check'
head -c 500 good.heddle >cut.heddle
table <<'END_OF_TABLE'
2 | absent | heddle sim absent txt lru 128
2 | absent | heddle sweep txt:absent --sizes 128
2 | absent | heddle trace stat absent txt
2 | absent | heddle gen txt:absent --requests 5
2 | absent | heddle kmer absent 3
2 | absent | heddle run hkv.serve.ref keys=txt:absent
2 | absent | heddle run --kernels hkv.find.ref keys=txt:absent
2 | absent | heddle sched hkv.find.tlpv1 keys=txt:absent
2 | absent | heddle check absent
2 | absent | heddle inspect absent
2 | absent | heddle fuzz case absent
2 | | heddle run hkv.serve.ref keys=txt:.
3 | cut | heddle check cut.heddle
3 | cut | heddle inspect cut.heddle
3 | cut | heddle range cut.heddle
2 | absent | heddle range absent
2 | FROM | heddle range cut.heddle one
3 | trace.txt | heddle inspect trace.txt
END_OF_TABLE
heddle check good.heddle absent cut.heddle --csv >"$work/out" 2>"$work/err"
got=$?
rows=$(cut -d, -f1,2 "$work/out" | paste -sd' ')
if [ $got = 3 ] && [ "$rows" = 'file,ok good.heddle,true absent,false cut.heddle,false' ]
then pass 'check reports every file'; else fail 'check reports every file' "exit code $got: $(cat "$work/out")"; fi

# ---- Odd words ---------------------------------------------------------------------------------

table <<'END_OF_TABLE'
2 | policy | heddle run hkv.serve.ref policy=lru policy=lfu
2 | seed | heddle run hkv.serve.ref seed=1 batch=4x4 seed=1
2 | batch | heddle sched hkv.find.tlpv1 batch=2x1 batch=3x1
2 | hash | heddle sim trace.txt txt,hash=1,hash=0 lru 128
2 | nearest: csv | heddle sim trace.csv CSV lru 128
2 | nearest: sim | heddle SIM trace.txt txt lru 128
2 | nearest: lru | heddle sim trace.txt txt LRU 128
2 | nearest: policy | heddle run hkv.serve.ref Policy=lru
2 | K: 17 | heddle kmer fifo 17 --design hive
2 | --lenient | heddle trace convert bad.txt txt bad.txt txt --lenient
END_OF_TABLE
if heddle sim trace.txt quux lru 128 2>&1 | grep -q nearest; then fail 'no name is suggested that is not near'
else pass 'no name is suggested that is not near'; fi

# ---- Limits and surroundings -------------------------------------------------------------------

if sanitized; then skip 'limits of memory' 'a sanitizer reserves more'
else
  table <<'END_OF_TABLE'
4 | | ulimit -v 60000; heddle run
4 | | ulimit -v 100000; heddle run
4 | | ulimit -v 200000; heddle run
0 | | ulimit -v 200000; OMP_NUM_THREADS=64 heddle run hkv.serve.ref batch=4096x4
END_OF_TABLE
fi
table <<'END_OF_TABLE'
0 | | env -i PATH="$PATH" heddle run hkv.serve.ref batch=64x4
0 | | ulimit -n 4; heddle sweep uniform:100 --requests 1000 --sizes 128 --plot curves.svg 3<&-
0 | | env -u HOME LC_ALL=xx_YY.UTF-8 heddle run hkv.serve.ref batch=64x4
0 | | LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 heddle sim trace.txt txt lru 1.5% --csv
0 | | TMPDIR= heddle sim - txt lru,lfu 128 <trace.txt
0 | | heddle sched hkv.find.tlpv1 capacity=256Ki -n 1
END_OF_TABLE
heddle run hive.mixed.ref buckets=32 slots=8 batch=64x40 keys=uniform:600 --json >"$work/out" 2>"$work/err"
awk -F'[:,]' '$1 ~ /"places"/ { places = $2 } $1 ~ /"size"/ { size = $2 }
              END { if (!(size > 256 && size <= places)) print size, places }' "$work/out" |
  none 'a stash counts among the places of a table'

tried command $cases "hostile command lines, environments, pipes and signals"
finish
