# SPDX-License-Identifier: Apache-2.0
#
# t_papers_gphash.sh - papers/gphash: this machine counts some of the kept results again; items with larger keys touch
# what those of the table do, and full keys; a crash shows a part of recovery or a fence that is left out; the page and
# the verdicts agree with the kept results, and other results give other verdicts.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
paper=gphash
# shellcheck source=tests/papers.sh
. "$top_srcdir/tests/papers.sh"
programs=$top_builddir/papers/gphash
fresh=$work/quick/results

# ---- The experiments -------------------------------------------------------------------------------------------------

try "tables, operations, schedules and crashes are counted" "$folder/run.sh" --quick --build "$top_builddir" --out "$work/quick" load touched places caches schedules crashes
for table in load touched fixed; do
  [ "$(grep -vc '^#' "$fresh/$table.tsv")" -gt 3 ] || echo "$table: $(wc -l <"$fresh/$table.tsv") lines"
  grep -v '^#' "$fresh/$table.tsv" | grep -vxF -f "$folder/results/$table.tsv"
done | none "what is kept is what this machine says"
for results in "$fresh" "$folder/results"; do
  # The own key, of a hit or an insert, and of the other entries those whose fingerprint is the same by chance.
  awk -F'\t' 'NR < 3 || $1 != 2 || $2 != 2 || $4 != "cells" || $9 != 3072 || $10 != 0.8 { next }
    { same = $12 FS $13 FS $15 FS $16 FS $17 FS $18 FS $26 FS $27 FS $28 }
    $6 == 8 && !$8 { usual[$11] = same; read[$11] = $20; written[$11] = $21; next }
    { n++
      hit = $11 != "miss" && $11 != "insert"
      off = $14 - ($11 != "miss") - ($16 - hit) / 2 ^ $7
      slack = $7 == 4 ? 0.3 : 0.01
      if (same != usual[$11]) print "other accesses than without full keys: " $0
      if (($6 == 128 || $7) && (off > slack || off < -slack)) print "too few or too many full keys: " $0
      if ($21 != written[$11] + ($11 == "insert" ? $6 : 0)) print "other bytes than the full key are written: " $0
      if ($7 == 64 && $20 != read[$11] + hit * $6) print "other bytes than the full key are read: " $0
    } END { if (n != 40) print n " lines" }' "$results/touched.tsv"
done | none "larger keys cost their own accesses, and no others"
for results in "$fresh" "$folder/results"; do
  # Random keys find room by both rules; chosen ones, and all sequences of a small table, only at their fixed places.
  awk -F'\t' 'NR > 2 && ($9 != 0 || ($8 > 0) != ($7 == 1 || $3 == 1)) { print } END { if (NR < 9) print NR " lines" }' "$results/places.tsv"
  awk -F'\t' 'NR > 2 && ($6 != 0 || $4 < 4 * $5) { print }' "$results/fixed.tsv"
  awk -F'\t' 'NR > 2 && ($9 != 0 || $8 > 1) { print }' "$results/load.tsv"
done | none "no entry loses its place in growth, but by the paper's rule"
for results in "$fresh" "$folder/results"; do
  awk -F'\t' 'NR > 2 && ($3 == 0 || $6 != 0) { print } END { if (NR != 9) print NR " lines" }' "$results/schedules.tsv"
  awk -F'\t' 'NR > 2 { n++; if (($1 == "nothing" && ($6 != 0 || $4 < 1000)) || ($1 ~ /^(levels|values|cells)$/ && $6 != 1)) print } END { if (n < 5) print n " lines" }' "$results/crashes.tsv"
done | none "schedules and crashes are right with the whole protocol, and not with a part of recovery"

# fence FUNCTION: FILE:LINE of its first fence.
fence() { awk -v of="$1(" '/^SIMT_FN/ { inside = index($0, of) } inside && /simt_fence_system\(\)/ { print "item.h:" FNR; exit }' "$top_srcdir/gpu/gphash/item.h"; }
for of in gphash_fill_cell gphash_publish; do
  "$programs/crashes" run 'gphash.insert_or_assign.warp capacity=6 value=12 batch=5x1 keys=uniform:4' 'gphash.mixed.warp capacity=6 batch=6x1 keys=uniform:60 duplicate=300000' \
    without="$(fence $of)" 2>"$work/said" | grep -q '	1$' && grep -q 'lost:' "$work/said" || echo "$of: $(fence $of)"
done | none "a crash shows a fence that is left out"
for words in 'counts no_such' 'counts touched keys=0' 'counts touched layout=pairs' 'counts touched key=12' 'counts touched layout=inline value=8 key=16' 'counts touched bits=16' 'counts load slots=9' 'counts load=2' 'counts' 'places no_such' 'places all levels=0' 'places all bottom=0' \
  'places chosen bottom=1' 'places drawn levels=8 bottom=6' 'places' 'crashes run' 'crashes run hkv.find.tlpv1' 'crashes run gphash.find.warp without=item.h:1' 'crashes'; do
  # shellcheck disable=SC2086 # words
  "$programs"/$words >"$work/said" 2>&1
  [ $? = 2 ] || echo "$words"
done | none "words that mean nothing are refused"

# ---- The verdicts ----------------------------------------------------------------------------------------------------

if ! command -v python3 >/dev/null; then
  skip "the verdicts" "python3 is missing"
  finish
fi
mkdir -p "$work/other"
awk -F'\t' 'BEGIN { OFS = FS } $1 == 2 && $2 == 2 && $6 > 0 { $8 = 0.93 } $4 == 6291456 { next } 1' "$folder/results/load.tsv" >"$work/other/load.tsv"
awk -F'\t' 'BEGIN { OFS = FS } $11 == "insert" && $9 == 12288 { $13 = 5; $24 = 6 } $11 == "find" && $6 == 128 { $14 = 9 } 1' "$folder/results/touched.tsv" >"$work/other/touched.tsv"
awk -F'\t' 'BEGIN { OFS = FS } $1 == "nothing" { $4 = 9 } $1 == "cells" { $6 = 0 } 1' "$folder/results/crashes.tsv" >"$work/other/crashes.tsv"
awk -F'\t' 'BEGIN { OFS = FS } $7 == 1 { $8 = 0 } 1' "$folder/results/places.tsv" >"$work/other/places.tsv"
judged "$work/other"
{
  expect 'The same after growth, best of five' 'does not hold' 'holds'
  expect 'The same of a table whose levels have 2^18 and 2^19 buckets' 'does not hold' 'not measured yet'
  expect 'One-shot access: most buckets whose keys a search or an insert reads' 'holds' 'holds in shape'
  expect 'An insert touches a constant number of places and moves nothing: lines written, at most' 'holds' 'does not hold'
  expect 'Keys of 128 bytes instead of 8 cost 13.1%: of the rate of finds, if the time is that of their lines' 'holds' 'does not hold'
  expect 'The same, if the time is that of their sectors of 32 bytes' 'holds in shape' 'holds in shape'
  expect 'Fingerprints avoid reading full keys in most cases: full keys that a find and a miss read, together' 'holds' 'does not hold'
  expect 'Recovery restores consistency: images of crashes that are wrong after it' 'holds' 'does not hold'
  expect 'The same of the released code: faults of its recovery that a crash shows' 'does not hold' 'does not hold'
  expect "The same by the paper's rule, the less loaded bucket: tables in which an entry finds no room" 'does not hold' 'holds'
  expect 'Metadata of LFU: share of a bucket of 384 bytes' 'holds' 'holds'
} | none "other results make other verdicts, and only of what they are about"
page_holds "$work/other"

finish
