#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# areas.sh FOLDER - prints the table of areas, from the logs of the suite in FOLDER (build/tests) and from areas.txt.
# For each area: how much was tried, how much is promised, the seconds, and the number of failed cases of its tests. If
# less was tried than is promised, the row gives the reason: the one in areas.txt, or the tests that were left out, or
# that no reason is known. Areas whose tests were not chosen have no row.
set -u
LC_ALL=C.UTF-8
folder=$1
areas=$(dirname "$(readlink -f "$0")")/areas.txt

# test NAME PASSED FAILED SKIPPED, tried AREA COUNT SECONDS NAME
for trs in "$folder"/*.trs; do
  [ -f "$trs" ] || continue
  name=$(basename "$trs" .trs)
  awk -v name="$name" '
    /^:test-result: (PASS|XFAIL)/       { passed++ }
    /^:test-result: (FAIL|XPASS|ERROR)/ { failed++ }
    /^:test-result: SKIP/               { skipped++ }
    END { print "test", name, passed + 0, failed + 0, skipped + 0 }' "$trs"
  sed -n 's/^# tried \([a-z-]*\) \([0-9]*\) \([0-9.]*\).*/tried \1 \2 \3/p' "${trs%.trs}.log" | sed "s/\$/ $name/"
done | awk -v areas="$areas" -v scale="${HEDDLE_TEST_SCALE:-1}" '
  function trim(s) { sub(/^[ \t]+/, "", s); sub(/[ \t]+$/, "", s); return s }
  function commas(n,   s, out) {
    s = sprintf("%d", n)
    for (out = ""; length(s) > 3; s = substr(s, 1, length(s) - 3)) out = "," substr(s, length(s) - 2) out
    return s out
  }
  BEGIN {
    while ((getline line < areas) > 0) {
      if (line ~ /^#/ || line !~ /\|/) continue
      split(line, f, "|")
      name[++n] = trim(f[1]); promised[n] = trim(f[2]); tests[n] = trim(f[3]); what[n] = trim(f[4]); why[n] = trim(f[5])
      gsub(/\.sh/, "", tests[n])
      at[name[n]] = n
    }
  }
  $1 == "test"  { sub(/\.sh$/, "", $2); ran[$2] = 1; bad[$2] = $4; only_skipped[$2] = !$3 && !$4 && $5 }
  $1 == "tried" {
    sub(/\.sh$/, "", $5)
    if (!($2 in at)) { stray = stray "\n  " $5 " tried " $2 ", which is no area"; next }
    count[$2] += $3; seconds[$2] += $4; said[$2, $5] = 1
    if (index(" " tests[at[$2]] " ", " " $5 " ") == 0) stray = stray "\n  " $5 " is not named with " $2
  }
  END {
    printf "\n%-14s %14s %12s %9s %7s  %s\n", "area", "tried", "promised", "seconds", "failed", "what"
    for (i = 1; i <= n; i++) {
      m = split(tests[i], t, " ")
      for (k = 1; k <= m; k++) { runs[i] += t[k] in ran; left += !(t[k] in ran) }
    }
    for (i = 1; i <= n; i++) {
      a = name[i]; failed = 0; out = ""; missing = ""
      m = split(tests[i], t, " ")
      if (m ? !runs[i] : left) continue
      for (k = 1; k <= m; k++) {
        if (!(t[k] in ran)) { out = out " " t[k]; continue }
        failed += bad[t[k]]
        if (!((a, t[k]) in said)) missing = missing " " t[k]
      }
      if (m == 0) { printf "%-14s %14s %12s %9s %7s  %s\n", a, "-", "-", "-", "-", what[i]; note = why[i] }
      else {
        printf "%-14s %14s %12s %9.1f %7d  %s\n", a, commas(count[a]), promised[i] == "-" ? "all" : commas(promised[i]), seconds[a], failed, what[i]
        less = promised[i] != "-" && count[a] + 0 < promised[i] + 0
        note = ""
        if (less && scale ~ /^1\//) note = "less than promised: HEDDLE_TEST_SCALE is " scale
        else if (less) note = why[i] != "-" ? why[i] : "less than promised"
        if (out) note = note (note ? "; " : "") "did not run:" out
        if (missing) note = note (note ? "; " : "") "said nothing (skipped, or failed before):" missing
      }
      if (note) printf "%-14s %s\n", "", "  " note
    }
    if (stray) print "\nareas.txt does not know this:" stray
    exit stray != ""
  }'
