# SPDX-License-Identifier: Apache-2.0
#
# t_kill.sh - a process that is killed while it saves a table leaves the snapshot that was there, or the new one: whole,
# and with all entries. HEDDLE_TEST_BACKEND chooses the table's backend. `make check-cuda` runs it; t_snapshot kills
# savers of tables in host memory.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$work" || exit 1

backend=${HEDDLE_TEST_BACKEND:-ref}
if [ "$backend" = cuda ] && ! "$HEDDLE" kmer <(printf '>a\nACGT\n') 3 --backend cuda >/dev/null 2>why; then
  skip "a save is killed on cuda" "$(head -n 1 why)"
  finish
fi
for seed in 1 2; do "$HEDDLE" gen genome --bases 2M --seed $seed -o $seed.fa >/dev/null; done
# size FILE: how many entries the snapshot has, which inspect finds whole.
size() { "$HEDDLE" inspect "$1" --json 2>why | sed -n 's/^  "size": \([0-9]*\),$/\1/p'; }
for seed in 1 2; do
  "$HEDDLE" kmer $seed.fa 15 --backend "$backend" -o $seed.hd >/dev/null
  sizes[seed]=$(size $seed.hd)
done
if [ -n "${sizes[1]}" ] && [ -n "${sizes[2]}" ] && [ "${sizes[1]}" != "${sizes[2]}" ]; then pass "two tables, ${sizes[1]} and ${sizes[2]} entries"
else fail 'two tables that differ' "${sizes[1]} and ${sizes[2]} entries"
fi

# The kill comes up to 40 ms after the unfinished file has appeared.
cp 1.hd table.hd
first=0 second=0 wrong='' unfinished=0
for round in $(seq 1 20); do
  "$HEDDLE" kmer 2.fa 15 --backend "$backend" -o table.hd >/dev/null 2>&1 &
  pid=$!
  until [ -n "$(find . -name 'table.hd?*' -print -quit)" ] || ! kill -0 $pid 2>/dev/null; do :; done
  sleep "0.0$((RANDOM % 4))$((RANDOM % 10))"
  kill -KILL $pid 2>/dev/null
  wait $pid 2>/dev/null
  for left in table.hd?*; do [ -e "$left" ] && unfinished=$((unfinished + 1)) && rm "$left"; done
  case $(size table.hd) in
  "${sizes[1]}") first=$((first + 1)) ;;
  "${sizes[2]}") second=$((second + 1)) ;;
  *) wrong="round $round: $(cat why)" ;;
  esac
  cp 1.hd table.hd
done
if [ -z "$wrong" ]; then pass "20 saves on $backend were killed: $first times the old table is there, $second times the new one"; else fail 'the old table or the new one' "$wrong"; fi
if [ $unfinished -gt 0 ]; then pass "$unfinished of them left an unfinished file beside it"; else fail 'a kill during the save' 'no file was unfinished'; fi
finish
