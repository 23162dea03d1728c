# SPDX-License-Identifier: Apache-2.0
#
# t_papers_hive.sh - papers/hive: this machine computes the kept results about the spread of hash functions again; the
# formulas for random keys are right where all cases can be counted; the page and the verdicts agree with the kept
# results, and other results give other verdicts.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
paper=hive
# shellcheck source=tests/papers.sh
. "$top_srcdir/tests/papers.sh"
spread=$top_builddir/papers/hive/spread

# ---- The experiments -------------------------------------------------------------------------------------------------

for way in '1 3' '2 1' '2 5' '3 4' '5 6' '7 2' '4 8' '10 6' '63 3'; do
  "$spread" exact buckets="${way% *}" most="${way#* }" | awk -F'\t' -v way="$way" '{ if (($1 - $2) ^ 2 > 1e-16 || ($3 - $4) ^ 2 > 1e-16) print way ": " $0; n++ } END { if (!n) print way ": nothing" }'
done | none "mean and variance of the empty buckets are those over all ways in which keys can fall"

try "every function shares out every kind of keys" "$folder/run.sh" --quick --build "$top_builddir" --out "$work/quick" spread
fresh=$work/quick/results/spread.tsv
{ echo chance random; for hash in $("$HEDDLE" list hashes --csv | sed 1d | cut -d, -f2); do for kind in sequential odd strided random; do echo "$hash $kind"; done; done; } |
  while read -r hash kind; do
    [ "$(awk -F'\t' -v h="$hash" -v k="$kind" '$1 == h && $2 == k' "$fresh" | wc -l)" = 21 ] || echo "$hash, $kind"
  done | none "each has its rows: three numbers of buckets, seven of keys"
awk -F'\t' 'NR > 2 && (NF != 10 || $5 !~ /^[0-9]+$/ || $9 !~ /^-?[0-9.]+$/ || $10 !~ /^-?[0-9.]+$/)' "$fresh" | none "each result is a number"
awk -F'\t' '$1 == "chance" && $6 >= 25 && ($9 ^ 2 > 25 || $10 ^ 2 > 25)' "$fresh" | none "what falls by chance is where chance has it"
functions=$("$HEDDLE" list hashes --csv | sed 1d | wc -l)
{ [ "$(grep -vc '^#' "$work/quick/results/pairs.tsv")" = $((1 + 4 + 4 * functions * (functions + 1) / 2)) ] || cat "$work/quick/results/pairs.tsv"; } | none "each two functions have theirs"
for table in spread pairs; do # of what is kept, the rows with as few keys
  awk -F'\t' -v table="$table" '/^#/ || $4 == "n" { next } { row = $1 FS $2 FS $3 FS $4 FS $5 } NR == FNR { seen[row]; if ($4 > most) most = $4; next }
    $4 <= most { n++; if (!(row in seen)) print table ": " row } END { if (n < 20) print table ": " n + 0 " rows" }' "$work/quick/results/$table.tsv" "$folder/results/$table.tsv"
done | none "what is kept is what this machine says"
for table in spread pairs; do "$folder/run.sh" used <"$folder/results/$table.tsv" | diff - "$folder/results/$table.tsv"; done | none "what is kept is what judge.py uses"
for words in 'fill hash=no_such' 'fill keys=no_such' 'fill buckets=3' 'fill buckets=1' 'fill most=0' 'pair other=no_such' 'exact buckets=60 most=60' 'nothing' ''; do
  # shellcheck disable=SC2086 # words
  "$spread" $words >"$work/said" 2>&1
  [ $? = 2 ] || echo "spread $words"
done | none "words that mean nothing are refused"

# ---- Counts ----------------------------------------------------------------------------------------------------------

try "what operations do is counted" "$folder/run.sh" --quick --build "$top_builddir" --out "$work/quick" counts
fresh=$work/quick/results
rows() { grep -vc '^#' "$fresh/$1.tsv"; }
{ [ "$(rows touched) $(rows steps) $(rows full) $(rows grow) $(rows schedules)" = '51 18 6 3 5' ] || wc -l "$fresh"/*.tsv; } | none "each mode has its rows"
# A hit in the first bucket reads its lines, each word once. An insert claims one bit of a mask in the paper's layout,
# one word in ours. Without a new key no lock is taken.
awk -F'\t' 'NR < 3 { next } { lines = $3 * 2 * $5 / 128; if (lines < 1) lines = 1 }
  ($10 < lines || $11 < $10 || $13 < 1) || ($7 == 0.5 && $8 == "find" && $9 == 1 && ($13 != 1 || $10 > 1.2 * lines)) || ($7 == 0.5 && $8 == "insert" && $15 > 1) ||
  ($8 == "find" && $15 != 0) || ($8 != "insert" && $18 != 0) || ($2 == "words" && $16 + $17 + $18 > 0) { print }' "$fresh/touched.tsv" | none "places are those that the layout has"
# At half a load nearly all newcomers stay in their first bucket; fewer, where it shuts early.
awk -F'\t' 'NR < 3 { next } { ends = $9 + $10 + $11 + $12 + $13; touched = $14 + $15 + $16 + $17 + $18 }
  ends < 0.99 || ends > 1.01 || touched < 0.99 || touched > 1.01 || $20 > 8 || $22 != 0 || ($1 != "wabc" && $21 != 0) || ($6 <= 0.55 && $9 < ($5 * 8 > $3 ? 0.8 : 0.9)) { print; bad = 1 }' "$fresh/steps.tsv" | none "every insert ends in one step"
awk -F'\t' 'NR > 2 && ($6 < 0.9 || $7 > $8 || $9 == 0 || $10 != 0)' "$fresh/full.tsv" | none "a table is full when its stash is, and loses nothing"
awk -F'\t' 'NR > 2 && ($8 < 0.3 || $8 > 0.7 || $9 != 0 || $12 < $11 || $12 > $10 || $13 != 0)' "$fresh/grow.tsv" | none "half of a bucket that is split moves, nothing else, and nothing is lost"
awk -F'\t' 'NR > 2 && ($2 != 10 || $4 != 0)' "$fresh/schedules.tsv" | none "no schedule goes wrong"
for words in 'no_such' 'touched kernel=no_such' 'touched keys=0' 'steps layout=pairs' 'steps load=2' 'full capacity=' 'grow slots=9' ''; do
  # shellcheck disable=SC2086 # words
  "$top_builddir/papers/hive/counts" $words >"$work/said" 2>&1
  [ $? = 2 ] || echo "counts $words"
done | none "words that mean nothing are refused, by counts"

nvcc=$(sed -n 's/^NVCC = //p' "$top_builddir/Makefile")
NVCC=${nvcc:-nvcc} "$folder/run.sh" --out "$work/code" code >"$work/said" 2>&1
case $? in
0) diff <(cut -f 1 "$folder/results/sm_90.hashes.tsv" | grep -v '^#') <(cut -f 1 "$work/code/results/sm_90.hashes.tsv" | grep -v '^#') ;;
77) grep -q 'no nvcc' "$work/said" || cat "$work/said" ;;
*) cat "$work/said" ;;
esac | none "each function's machine code is counted, or nvcc is said to be missing"
grep -v '^#' "$folder/results/sm_90.hashes.tsv" | cut -f 1 | grep -oE '^hash_[a-z0-9]+_(32|64)' | sort | diff - <({ echo none; "$HEDDLE" list hashes --csv | sed 1d | cut -d, -f2; } |
  while read -r hash; do printf 'hash_%s_32\nhash_%s_64\n' "$hash" "$hash"; done | sort) | none "every function's machine code is kept"

# ---- The verdicts ----------------------------------------------------------------------------------------------------

if ! command -v python3 >/dev/null; then
  skip "the verdicts" "python3 is missing"
  finish
fi
mkdir -p "$work/other"
awk -F'\t' 'BEGIN { OFS = FS } $1 == "crc64" && $2 == "random" { next } $1 == "murmur3" && $2 == "odd" && $4 == 1048576 { $9 = $10 = 900 } $1 == "crc32" && $2 == "random" && $4 == 65536 { $9 = 7 } 1' \
  "$folder/results/spread.tsv" >"$work/other/spread.tsv"
awk -F'\t' 'BEGIN { OFS = FS } $1 == "wabc" && $7 == 1 && $5 == 0 { $21 = 0.2 } $3 == 32 && $6 == 0.97 { $20 = 12 } 1' "$folder/results/steps.tsv" >"$work/other/steps.tsv"
awk -F'\t' 'BEGIN { OFS = FS } $2 == 16 && $4 == 3 { $6 = 0.93; $10 = 3 } 1' "$folder/results/full.tsv" >"$work/other/full.tsv"
{ printf 'what\titems_per_s\n'; printf 'grow\t99e9\nshrink\t9e9\n'; } >"$work/other/nvidia-h200.paper_resize.tsv"
sed 's/^\(hash_crc32_32\t.*LDC.32x\)[0-9]*/\130/' "$folder/results/sm_90.hashes.tsv" >"$work/other/sm_90.hashes.tsv"
judged "$work/other"
{
  expect 'CRC-32 has no more collisions than chance (CSR >= 1), random keys: worst deviation' 'holds' 'holds in shape'
  expect 'CRC-64 has no more collisions than chance (CSR >= 1), random keys: worst deviation' 'holds' 'not measured yet'
  expect 'Table lookups of a CRC-32 of a 32-bit key' 'holds' 'does not hold'
  expect 'BitHash1 clusters mildly at low load: collisions above chance, all keys, worst deviation' 'does not hold' 'does not hold'
  expect 'Load factor that is reached without a pending insert' 'holds' 'holds in shape'
  expect 'No key is lost beyond the bound: it is in the stash, or the insert is pending' 'holds' 'does not hold'
  expect 'A displacement chain is bounded: most rounds of an insert' 'holds' 'holds in shape'
  expect 'The lock is taken in fewer than 0.85% of the inserts, from empty to a load factor of 0.95' 'holds in shape' 'does not hold'
  expect 'Contraction of 32,768 buckets, 1e9 operations/s' "$(verdict "$work/as_kept" 'Expansion of 32,768 buckets, 1e9 operations/s')" 'other hardware'
} | none "other results make other verdicts, and only of what they are about"
page_holds "$work/other"

finish
