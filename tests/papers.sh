# SPDX-License-Identifier: Apache-2.0
#
# papers.sh - functions for the tests of papers/. A test sources it after cases.sh, with the paper's folder in $paper.
#
#   judge ARGUMENT...            runs the paper's judge.py
#   judged OTHER                 judges the kept results into $work/as_kept, and again, with the results of folder OTHER
#                                preferred to the kept ones, into $work/changed
#   expect CLAIM KEPT CHANGED    reports a claim whose verdicts are not KEPT and CHANGED
#   page_holds OTHER             the page and the plots agree with the kept results; a page that does not is detected
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables for the tests, and of cases.sh
: "${paper:?}"
folder=$top_srcdir/papers/$paper
judge() { PYTHONDONTWRITEBYTECODE=1 python3 "$folder/judge.py" "$@"; }
judged() { judge --out "$work/as_kept" >"$work/words" 2>&1 && judge --results "$1" --out "$work/changed" >>"$work/words" 2>&1 || words=$work/words; }

# verdict FOLDER CLAIM: its verdict in the folder.
verdict() { awk -F'\t' -v claim="$2" '$3 == claim { print $6 }' "$1/verdicts.tsv"; }
expect() {
  [ "$(verdict "$work/as_kept" "$1")" = "$2" ] || echo "$1: as kept: $(verdict "$work/as_kept" "$1")"
  [ "$(verdict "$work/changed" "$1")" = "$3" ] || echo "$1: changed: $(verdict "$work/changed" "$1")"
}

page_holds() {
  try "README.md and verdicts.tsv are what the kept results say" judge --check
  { judge --check --results "$1" >"$work/words" 2>&1 || grep -q 'is not what the results say' "$work/words" || cat "$work/words"
    [ -s "$work/words" ] || echo "nothing was said"; } | none "a page that is not what the results say is told"
  awk -F'\t' 'NR > 1 && ($2 == "" || $3 == "" || $6 == "")' "$work/as_kept/verdicts.tsv" | none "every claim has its place and a verdict"
  diff -r "$folder/plots" "$work/as_kept/plots" 2>&1 | none "plots/ shows the kept results"
  diff -rq "$work/as_kept/plots" "$work/changed/plots" | grep -q differ || fail "other results make other plots"
}
