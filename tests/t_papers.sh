# SPDX-License-Identifier: Apache-2.0
#
# t_papers.sh - papers/hkv: every experiment runs at a small size, the page and the verdicts agree with the kept
# results, and other results give other verdicts.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
paper=hkv
# shellcheck source=tests/papers.sh
. "$top_srcdir/tests/papers.sh"
hkv=$folder

# ---- The experiments -------------------------------------------------------------------------------------------------

started=$SECONDS
try "every experiment runs, with small tables" "$hkv/run.sh" --quick --build "$top_builddir" --out "$work/quick" cpu
echo "# in $((SECONDS - started)) s"
results=$work/quick/results/cpu.tsv
grep -v '^#' "$hkv/experiments.txt" | grep -v nodigest | sed -E 's/([^ =]+)\|([^ ]+)/\2/g' | while read -r line; do
  grep -qF "$line" "$results" || echo "$line"
done | none "each has its line of results"
grep -v '^#' "$results" | grep -vE $'\t-?[0-9.]+(e-?[0-9]+)?$' | none "each result is a number"
grep 'what=agrees' "$results" | grep -v 'coalesced' | grep -v $'\t1$' | none "what was counted was right: outcomes are the reference's"
"$top_builddir/papers/hkv/quality" victims capacity=500 >"$work/once"
"$top_builddir/papers/hkv/quality" victims capacity=500 | diff "$work/once" - | none "the same words give the same line"
for words in 'hits polcy=lru' 'hits policy=no_such' 'hits scores=no_such' 'nothing' 'hits capacity=1'; do
  # shellcheck disable=SC2086 # words
  "$top_builddir/papers/hkv/quality" $words >"$work/words" 2>&1
  [ $? = 2 ] || echo "quality $words"
done | none "words that mean nothing are refused"
if "$HEDDLE" bench --backend cuda limits >/dev/null 2>&1; then
  skip "without a GPU that part is skipped" "here is one"
else
  "$hkv/run.sh" --build "$top_builddir" --out "$work/gpu" gpu >"$work/words" 2>&1
  code=$?
  { [ "$code" = 77 ] && grep -q 'no GPU here' "$work/words" || { echo "exit code $code"; cat "$work/words"; }; } | none "without a GPU that part is skipped, and says so"
fi

# ---- The verdicts ----------------------------------------------------------------------------------------------------

if ! command -v python3 >/dev/null; then
  skip "the verdicts" "python3 is missing"
  finish
fi
mkdir -p "$work/other"
sed 's/^\(find\t1\t1\t8\t0.5\t.*\tcoalesced\t\)[0-9.]*/\11.5/' "$top_srcdir/bench/results/nvidia-h200.tsv" >"$work/other/nvidia-h200.tsv"
sed 's/\(evictions .* dual=1\t\).*/\10.5/; /alpha=0.5 .*scores=known/d' "$hkv/results/cpu.tsv" >"$work/other/cpu.tsv"
judged "$work/other"
{
  expect 'find, dim 8' 'holds' 'does not hold'
  expect 'First eviction, two buckets' 'holds' 'does not hold'
  expect "lfu, α = 0.50, scores are known popularities, and refuse by them" 'holds' 'not measured yet'
  expect 'find, dim 64' 'holds' 'holds'
} | none "other results make other verdicts, and only of what they are about"
page_holds "$work/other"

finish
