#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# coverage.sh FOLDER - the coverage of the core in a build with --enable-coverage: lines and branches of each folder,
# then for each file the lines that did not run and the lines with a branch that was not taken. Exit code 1 below 100%
# of lines or 98% of branches. Needs gcovr. The comment GCOVR_EXCL_LINE marks a line that cannot run, GCOVR_EXCL_BR_LINE
# a line with a branch that cannot be taken; each gives the reason.
set -u
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$(readlink -f "$0")")/.." || exit 2
command -v gcovr >/dev/null || { echo "coverage.sh: gcovr is missing (Debian: gcovr)" >&2; exit 77; }
core='(base|lib|ref|simt|concurrency|judge|policies|gpu/hkv|gpu/hive)'
# Only the objects of the core: not the museum's copies, and not headers of the core that a test compiles again.
# simt/raw_hooks.c is in no library: it replaces the runtime of a sanitizer.
mapfile -t rooms < <(cd "$build" && find base lib ref gpu simt concurrency judge -maxdepth 0 -printf "$build/%p\n")
gcovr -r . --object-directory "$build" --filter "$core/" --exclude 'simt/raw_hooks.c' --exclude-unreachable-branches \
  --csv "$build/coverage.csv" --json "$build/coverage.json" "${rooms[@]}" || exit 2
awk -F, 'NR > 1 {
    room = $1; sub(/\/[^\/]*$/, "", room)
    lines[room] += $2; run[room] += $3; branches[room] += $5; taken[room] += $6
    all += $2; ran += $3; every += $5; went += $6
  }
  END {
    printf "%-14s %8s %8s %8s %9s %9s %8s\n", "room", "lines", "ran", "", "branches", "taken", ""
    for (r in lines) row[++n] = r
    for (i = 1; i < n; i++) for (j = i + 1; j <= n; j++) if (row[j] < row[i]) { r = row[i]; row[i] = row[j]; row[j] = r }
    for (i = 1; i <= n; i++) { r = row[i]; show(r, lines[r], run[r], branches[r], taken[r]) }
    show("all", all, ran, every, went)
    exit !(ran == all && went >= 0.98 * every)
  }
  function show(name, l, x, b, t) { printf "%-14s %8d %8d %7.2f%% %9d %9d %7.2f%%\n", name, l, x, l ? 100 * x / l : 100, b, t, b ? 100 * t / b : 100 }' "$build/coverage.csv"
code=$?
python3 - "$build/coverage.json" <<'END'
import json, sys
for file in json.load(open(sys.argv[1]))["files"]:
    lines = [l for l in file["lines"] if not l.get("gcovr/noncode")]
    missed = [str(l["line_number"]) for l in lines if l["count"] == 0]
    partly = [str(l["line_number"]) for l in lines if l["count"] and any(b["count"] == 0 for b in l["branches"])]
    if missed: print(f'{file["file"]}: not run: {", ".join(missed)}')
    if partly: print(f'{file["file"]}: branches not taken: {", ".join(partly)}')
END
exit $code
