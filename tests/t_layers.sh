# SPDX-License-Identifier: Apache-2.0
#
# t_layers.sh - what the object files of the libraries and of the command need of each other. Includes don't show it all:
# a function may be declared in one layer and defined in a higher one.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"

# Where symbols point up, from files whose names begin so to a folder, and why.
known='
simt/raw_hooks tools   it is in no library: the program that links it defines simt_raw_told
'
most=4 # files of a circle

# objects: the files that `make` links: FOLDER/.libs/NAME.o or, without shared libraries, FOLDER/NAME.o.
objects() {
  # shellcheck disable=SC2016 # make reads the variables
  env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory --eval \
    't_layers: ; @echo $(foreach p,$(noinst_LTLIBRARIES) $(bin_PROGRAMS:$(EXEEXT)=),$($(subst .,_,$(p))_OBJECTS))' t_layers |
    tr ' ' '\n' | sed -nE 's,([^/]*)\.lo$,.libs/\1.o,; /\.o$/p' | while read -r o; do
    [ -e "$o" ] || o=${o/.libs\//}
    [ -e "$o" ] && echo "$o"
  done
}

# Prints "up: ..." for a symbol of a higher layer or of another folder of the same one, "needless: ..." for an entry of
# $known without one, and "circle: ..." for files that need each other in the end, apart from what is known (Tarjan,
# "Depth-first search and linear graph algorithms", 1972).
judge=$(cat <<'AWK'
  function folder(f,   part) { return split(f, part, "/") > 2 && part[1] "/" part[2] in layer ? part[1] "/" part[2] : part[1] }
  function points_up(f, g,   k) {
    if (folder(f) == folder(g)) return 0
    if (!(folder(f) in layer) || !(folder(g) in layer)) return 1
    if (layer[folder(g)] < layer[folder(f)]) return 0
    for (k = 1; k <= knowns; k++) if (index(f, from[k]) == 1 && folder(g) == to[k]) return -k
    return 1
  }
  function visit(f,   names, name, i, g, circle, n) {
    at[f] = low[f] = ++visited
    stack[++top] = f
    names = split(needs[f], name, " ")
    for (i = 1; i <= names; i++) {
      g = name[i]
      if (!(g in at)) visit(g)
      if (!(g in done) && low[g] < low[f]) low[f] = low[g]
    }
    if (low[f] < at[f]) return
    do { g = stack[top--]; done[g]; circle = circle " " g; n++ } while (g != f)
    if (n > most) print "circle: " n ":" circle
  }
  BEGIN {
    for (n = split(layers, line, "\n"); n; n--) for (i = split(line[n], name, " "); i; i--) layer[name[i]] = n
    for (n = split(known, line, "\n"); n; n--) if (split(line[n], name, " ")) { from[++knowns] = name[1]; to[knowns] = name[2] }
  }
  { file = $1; sub(/:$/, "", file); sub(/\.libs\//, "", file); sub(/[^\/]*-/, "", file); sub(/\.o$/, "", file); files[file] }
  $3 == "U" { uses[++n_uses] = file " " $2 }
  $3 ~ /^[A-TV-Z]$/ { definitions[$2]++; defines[$2] = file }
  END {
    for (u = 1; u <= n_uses; u++) {
      split(uses[u], use, " ")
      f = use[1]; g = defines[use[2]]
      if (definitions[use[2]] != 1 || f == g) continue
      up = points_up(f, g)
      if (up > 0) print "up: " f " needs " use[2] " of " g
      else if (up < 0) needed[-up]
      else if (!((f, g) in edge)) { edge[f, g]; needs[f] = needs[f] " " g; seen[folder(f) " " folder(g)] }
    }
    for (k = 1; k <= knowns; k++) for (f in files) if (index(f, from[k]) == 1 && !(k in needed)) { print "needless: " from[k] " to " to[k]; break }
    for (f in files) if (!(f in at)) visit(f)
    if (!("lib base" in seen)) print "up: the calls were not seen"
  }
AWK
)

# found KIND NAME: passes unless there is a line of that kind.
found() { sed -n "s/^$1: //p" "$work/found" | sort | none "$2"; }

layers=$(grep -v '^#' "$top_srcdir/tests/layers.txt")
cd "$top_builddir" && objects >"$work/objects"
if [ "$(wc -l <"$work/objects")" -gt 50 ] && command -v nm >/dev/null; then
  xargs nm -A -P <"$work/objects" | awk -v layers="$layers" -v known="$known" -v most=$most "$judge" >"$work/found" ||
    echo "up: awk failed" >>"$work/found"
  found up "no symbol points up between folders"
  found circle "no more than $most object files need each other"
  found needless "what is known to point up does so"
else
  skip "what object files need of each other" "nm or the objects are missing"
fi
finish
