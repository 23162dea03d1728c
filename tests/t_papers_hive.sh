# SPDX-License-Identifier: Apache-2.0
#
# t_papers_hive.sh - papers/hive: what is kept of how hash functions share out keys is what this machine says, the formulas of chance are right where all ways can be
# counted, the page and the verdicts are what the kept results say, and other results make other verdicts.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
paper=hive
# shellcheck source=tests/papers.sh
. "$top_srcdir/tests/papers.sh"
spread=$top_builddir/papers/hive/spread

# ---- The experiments ----------------------------------------------------------------------------------------------------

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
counted() { for table in spread pairs; do grep -v '^#' "$1/$table.tsv" | cut -f 1-5; done; }
counted "$work/quick/results" | grep -vxF -f <(counted "$folder/results") | none "what is kept is what this machine says"
for words in 'fill hash=no_such' 'fill keys=no_such' 'fill buckets=3' 'fill buckets=1' 'fill most=0' 'pair other=no_such' 'exact buckets=60 most=60' 'nothing' ''; do
  # shellcheck disable=SC2086 # words
  "$spread" $words >"$work/said" 2>&1
  [ $? = 2 ] || echo "spread $words"
done | none "words that mean nothing are refused"

nvcc=$(sed -n 's/^NVCC = //p' "$top_builddir/Makefile")
NVCC=${nvcc:-nvcc} "$folder/run.sh" --out "$work/code" code >"$work/said" 2>&1
case $? in
0) diff <(cut -f 1 "$folder/results/sm_90.hashes.tsv" | grep -v '^#') <(cut -f 1 "$work/code/results/sm_90.hashes.tsv" | grep -v '^#') ;;
77) grep -q 'no nvcc' "$work/said" || cat "$work/said" ;;
*) cat "$work/said" ;;
esac | none "each function's machine code is counted, or nvcc is said to be missing"
grep -v '^#' "$folder/results/sm_90.hashes.tsv" | cut -f 1 | grep -oE '^hash_[a-z0-9]+_(32|64)' | sort | diff - <({ echo none; "$HEDDLE" list hashes --csv | sed 1d | cut -d, -f2; } |
  while read -r hash; do printf 'hash_%s_32\nhash_%s_64\n' "$hash" "$hash"; done | sort) | none "every function's machine code is kept"

# ---- The verdicts ---------------------------------------------------------------------------------------------------------

if ! command -v python3 >/dev/null; then
  skip "the verdicts" "python3 is missing"
  finish
fi
mkdir -p "$work/other"
awk -F'\t' 'BEGIN { OFS = FS } $1 == "crc64" && $2 == "random" { next } $1 == "murmur3" && $2 == "odd" && $4 == 1048576 { $9 = $10 = 900 } $1 == "crc32" && $2 == "random" && $4 == 65536 { $9 = 7 } 1' \
  "$folder/results/spread.tsv" >"$work/other/spread.tsv"
sed 's/^\(hash_crc32_32\t.*LDC.32x\)[0-9]*/\130/' "$folder/results/sm_90.hashes.tsv" >"$work/other/sm_90.hashes.tsv"
judged "$work/other"
{
  expect 'CRC-32 has no more collisions than chance (CSR >= 1) at any scale, random keys: deviations above, at worst' 'holds' 'holds in shape'
  expect 'CRC-64 has no more collisions than chance (CSR >= 1) at any scale, random keys: deviations above, at worst' 'holds' 'not measured yet'
  expect 'Table lookups of a CRC-32 of a 32-bit key' 'holds' 'does not hold'
  expect 'BitHash1 clusters mildly at low load: more collisions than chance, any keys; deviations above, at worst' 'does not hold' 'does not hold'
} | none "other results make other verdicts, and only of what they are about"
page_holds "$work/other"

finish
