# SPDX-License-Identifier: Apache-2.0
#
# t_papers_ovs.sh - papers/ovs: this machine counts half of the kept results of the smallest scale again; counts that can be
# derived by hand are those; counts hold over scales; the page and the verdicts agree with the kept results, and other
# results give other verdicts.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
paper=ovs
# shellcheck source=tests/papers.sh
. "$top_srcdir/tests/papers.sh"
pages=$top_builddir/papers/ovs/pages chunks=$top_builddir/papers/ovs/chunks

# column TABLE NAME: the named column of lines of a table's program.
column() { awk -F'\t' -v name="$2" 'NR == FNR { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' <("$top_builddir/papers/ovs/$1" head) -; }
count() { "$top_builddir/papers/ovs/$1" run "${@:3}" | column "$1" "$2"; }

# ---- The experiments -------------------------------------------------------------------------------------------------

try "the smallest scale is counted" "$folder/run.sh" --quick --build "$top_builddir" --out "$work/quick" pages chunks
for table in pages chunks probes; do
  fresh=$work/quick/results/$table.tsv
  [ "$(grep -vc '^#' "$fresh")" -gt 4 ] || echo "$table: $(wc -l <"$fresh") lines"
  grep -v '^#' "$fresh" | grep -vxF -f "$folder/results/$table.tsv"
done | none "what is kept is what this machine says"
for table in pages chunks; do
  awk -F'\t' -v table="$table" '!/^#/ { if (!n) n = NF; if (NF != n) print table ": " NF " columns: " $0 }' "$folder/results/$table.tsv"
done | none "each result has all columns"

small='scale=4096 batch=100 keys=1000 memory=65536'
for words in 'table=one' 'table=two sort=range kind=du range=artifact'; do
  # shellcheck disable=SC2086 # words
  [ "$(count pages faults $small $words)" = 0 ] || echo "$words"
done | none "a table that fits has no faults"
{
  [ "$(count pages remote scale=4096 keys=1000 memory=65536 far=remote)" = 0 ] || echo "far sectors of a table that fits"
  [ "$(count pages outer_sectors scale=4096 table=two sort=range range=artifact kind=du op=miss keys=200 hold=2000)" = 1 ] || echo "an empty range"
  [ "$(count pages outer_sectors scale=4096 table=two sort=range keys=1000)" = 2 ] || echo "the outer array of new keys"
  # Half of the blocks have frames: half of the sectors are far.
  "$pages" run scale=512 keys=4000 batch=1 far=remote memory=17408 >"$work/half"
  awk -v far="$(column pages remote <"$work/half")" -v items="$(column pages items <"$work/half")" -v sectors="$(column pages sectors <"$work/half")" \
    'BEGIN { share = far / items / sectors; if (share < 0.45 || share > 0.55) print "far share " share }'
} | none "counts are those that can be derived"
# Four sweeps in order, with fewer frames than blocks: the least recent block is always the next one.
"$pages" run scale=4096 keys=4000 batch=1000 sort=hash memory=24576 >"$work/sweep"
{
  blocks=$(column pages blocks <"$work/sweep") frames=$(column pages frames <"$work/sweep") fetched=$(column pages fetched <"$work/sweep") touched=$(column pages touched <"$work/sweep")
  [ "$frames" -lt "$blocks" ] || echo "$frames frames of $blocks blocks"
  awk -v f="$fetched" -v t="$touched" 'BEGIN { if (f / t < 3.5 || f / t > 4.5) print f " pages fetched of " t }'
} | none "each sweep fetches the table again"

# Lists: sorted chunks, each key once, and repeats find their key.
small='scale=8192 memory=65536'
for words in 'kind=su sort=none' 'kind=sr sort=key' 'kind=zz sort=none table=two inner=12' 'kind=dr raise=least sort=none' 'kind=mi table=two inner=14'; do
  for op in insert find erase; do
    # shellcheck disable=SC2086 # words
    done=$(count chunks 'done' $small $words op=$op) items=$(count chunks items $small $words op=$op)
    case $op:$words in
    find:* | insert:*kind=su* | insert:*kind=zz* | insert:*kind=mi*) [ "$done" = "$items" ] ;;
    *kind=sr* | *kind=dr*) [ "$done" = $((items - items / 5)) ] ;;
    *) [ "$done" = "$items" ] ;;
    esac || echo "$op $words: $done of $items"
  done
done | none "lists keep every key, and repeats are told"
{
  # shellcheck disable=SC2086 # words
  data=$(count chunks data $small kind=mi) keys=$(count chunks items $small kind=mi)
  awk -v d="$data" -v k="$keys" 'BEGIN { if (d < k / 16 - 2 || d > k / 16 + 2) print d " chunks for " k " ascending keys" }'
  # shellcheck disable=SC2086 # words
  [ "$(count chunks data $small op=erase)" = 1 ] || echo "chunks are left when all keys are erased"
  # shellcheck disable=SC2086 # words
  [ "$(count chunks fewest $small op=erase keys=1250 sort=none)" -ge 10 ] || echo "a chunk has fewer than ten keys"
} | none "chunks are split and merged as the paper says"

for words in 'run table=three' 'run kind=xx' 'run op=erase' 'run sort=hash table=two' 'run scale=0' 'run keys=0' 'run keys=2 hold=1 op=find' 'run memory=1' 'run group=33' 'no_such' ''; do
  # shellcheck disable=SC2086 # words
  "$pages" $words >"$work/said" 2>&1
  [ $? = 2 ] || echo "pages $words"
done | none "words that mean nothing are refused"
for words in 'run table=three' 'run op=miss' 'run sort=hash' 'run index=up' 'run raise=most' 'run inner=4 table=two' 'run far=remote' 'no_such' ''; do
  # shellcheck disable=SC2086 # words
  "$chunks" $words >"$work/said" 2>&1
  [ $? = 2 ] || echo "chunks $words"
done | none "words that mean nothing are refused, by chunks"

# ---- The verdicts ----------------------------------------------------------------------------------------------------

if ! command -v python3 >/dev/null; then
  skip "the verdicts" "python3 is missing"
  finish
fi
# altered TABLE PROGRAM: the kept table, changed by an awk program that has each column's number in `at`.
altered() { awk -F'\t' 'BEGIN { OFS = FS } /^#/ { print; next } !n { n = 1; for (i = 1; i <= NF; i++) at[$i] = i; print; next } { '"$2"'; print }' "$folder/results/$1.tsv" >"$work/other/$1.tsv"; }
mkdir -p "$work/other"
altered pages 'if ($at["table"] == "one" && $at["sort"] == "hash" && $at["batch"] == 1000) { $at["fetched"] *= 4; $at["written"] *= 4 }
  if ($at["kind"] == "mi" && $at["keys"] == 3000) next
  if ($at["op"] == "miss" && $at["table"] == "two") $at["sectors"] = 4'
altered chunks 'if ($at["raise"] == "least") $at["lateral"] *= 9
  if ($at["op"] == "erase") { $at["fewest"] = 7; $at["stuck"] = 0 }'
altered probes 'if ($2 == "group, not coprime") $4 = 3'
# made_up: rows of a list on a GPU that none was measured on: op, kind, pools, unsorted, far, keys, blocks, rate, locks, attempts, wrong.
made_up() {
  printf 'op\tkind\tlevel_pools\tunsorted\tfar\tkeys_per_block\tblocks\tentries\titems\tms\trate\tlocks\tattempts\twrong\n'
  while read -r op kind pools unsorted far keys blocks rate locks attempts wrong; do
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t0\t1000\t1.0\t%s\t%s\t%s\t%s\n' "$op" "$kind" "$pools" "$unsorted" "$far" "$keys" "$blocks" "$rate" "$locks" "$attempts" "$wrong"
  done
}
{
  printf '%s\n' 'insert su 0 0 none 0 0 0.100 0 0 0' 'find su 0 0 none 0 0 0.400 0 0 0' 'insert su 1 0 none 0 0 0.091 0 0 0' 'find su 1 0 none 0 0 0.399 0 0 0' \
    'insert su 0 1 none 0 0 0.110 0 0 0' 'find su 0 1 none 0 0 0.300 0 0 7' 'find su 1 0 data 0 0 0.05 0 0 0' 'find su 1 0 all 0 0 0.01 0 0 0' \
    'locks mi 0 0 none 0 0 0.1 1000 4000 0' 'locks su 0 0 none 0 0 0.1 1000 1010 0'
  for keys in 1 30 60 120 180 240 300 360; do echo "insert mi 0 0 none $keys 0 0.00$keys 0 0 0"; echo "insert du 0 0 none $keys 0 0.1 0 0 0"; done
  for blocks in 64 256 1024 4096 16384 65536; do echo "insert mi 0 0 none 180 $blocks 0.$((99999 - blocks / 4 % 4096)) 0 0 0"; echo "insert du 0 0 none 180 $blocks 0.0$blocks 0 0 0"; done
} | made_up >"$work/other/nvidia-h200.gfsl.tsv"
judged "$work/other"
of_made_up() { [ "$(verdict "$work/changed" "$1")" = "$2" ] || echo "$1: $(verdict "$work/changed" "$1")"; }
{
  of_made_up 'The same on a GPU, MI' 'holds in shape'
  of_made_up 'Index levels in device memory gain nothing: rate of searches with level 0 far, over those with all levels far, SU' 'does not hold'
  of_made_up 'Keys per block, inserts of MI: 1,798 s for 1, 49 s for 300' 'holds in shape'
  of_made_up 'Keys per block make no difference for DU: the fastest inserts over the slowest, 1 to 360 keys' 'holds'
  of_made_up '2^14 thread blocks are the best, for MI and for DU: 45.94 s and 43.71 s' 'holds in shape'
} | none "rows of a list on a GPU make its verdicts, and none with a wrong item"
{
  expect 'An outer array of ranges is what makes batches local: bytes moved by one table sorted by slot, over HT-OVS, SU' 'does not hold' 'holds'
  expect 'Remote mappings of HT-UVM grow linearly with the keys, MI: R squared' 'holds' 'not measured yet'
  expect 'A miss in an empty range ends early: sectors of inner tables per search' 'holds' 'does not hold'
  expect 'Lateral moves are in the nature of the list: of them, those that are left when the least key of a new chunk is raised, SU' 'does not hold' 'holds'
  expect 'A merge below a third of a chunk keeps at least so many keys in every chunk but the last' 'holds' 'does not hold'
  expect 'Every erase ends: repairs of pointers that search for a key that was erased one level below, SU' 'does not hold' 'holds'
  expect 'Without it a search would miss slots' 'does not hold' 'holds'
  expect 'Share of chunks in level 0, SU and DU' 'holds' 'holds'
} | none "other results make other verdicts, and only of what they are about"
page_holds "$work/other"

finish
