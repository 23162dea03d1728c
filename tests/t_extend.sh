# SPDX-License-Identifier: Apache-2.0
#
# t_extend.sh - doc/extending.md keeps its word: its files and lines are applied to a copy of the sources, the library and the command are
# built from that, and the policy it adds is listed, judged, and as good as the page says.
#
# In the page, a code block after <!-- file: PATH --> is that file, one after <!-- append: PATH --> is added to it, and lines of
# ```console that begin with "$ heddle" are run; <!-- output: COMMAND --> is what a command prints, columns that depend on time left out.
. "${top_srcdir:?}/tests/cases.sh"
page=$top_srcdir/doc/extending.md
tree=$work/tree

result() { # result GOOD NAME [WORDS-FILE]
  if [ "$1" = 0 ]; then pass "$2"; else fail "$2" "${3:+$(tail -n 20 "$3")}"; fi
}

# block KIND PATH: the code block that follows <!-- KIND: PATH -->.
block() {
  awk -v mark="<!-- $1: $2 -->" '
    $0 == mark { armed = 1; next }
    armed && /^```/ { if (inside) exit; inside = 1; next }
    inside { print }' "$page"
}
marks() { sed -n "s/^<!-- $1: \(.*\) -->\$/\1/p" "$page"; }

mkdir "$tree"
for room in include lib ref policies predicates concurrency workload judge tools bench simt gpu tests; do
  cp -r "$top_srcdir/$room" "$tree/"
done
chmod -R u+w "$tree"
marks file | while read -r path; do block file "$path" >"$tree/$path"; done
marks append | while read -r path; do block append "$path" >>"$tree/$path"; done
[ -s "$tree/policies/twice.h" ] && [ "$(tail -n 1 "$tree/policies/registry.inc")" = '#include "policies/twice.h"' ]
result $? "the page's blocks were applied"

# The C sources that the makefile lists, hardly optimised, for a machine without a device; what make itself made is taken
# from where it is.
mapfile -t sources < <(sed 's/#.*//' "$top_srcdir/Makefile.am" |
  grep -oE '(^|[[:space:]])(lib|ref|concurrency|workload|judge|tools|bench|simt|gpu)/[a-z_0-9/]+\.c([[:space:]]|$)' | tr -d ' \t' | sort -u)
flags=(-std=c11 -O1 -Wall -Wextra -Wno-unused-function -Werror -ffp-contract=off -D_GNU_SOURCE
  '-DHD_PKGLIBEXECDIR=""' '-DHD_BUILD_FLAGS=""' '-DHD_PLOT_PYTHON=""' -I. -Iinclude "-I$top_builddir")
# shellcheck disable=SC2086 # lists
compile() { ${CC:-cc} "${flags[@]}" $HD_SANITIZE "$@"; }
objects() { local f; for f; do echo "${f//\//_}.o"; done; }
# shellcheck disable=SC2046 # lists
libraries() { "${PKG_CONFIG:-pkg-config}" --libs libxxhash libzstd zlib jansson cmocka; echo -lpthread -lm; }

build() {
  local f
  cd "$tree" || return 1
  for f in "${sources[@]}" tests/t_policies.c tests/model.c tests/testing.c; do compile -c "$f" -o "${f//\//_}.o" || return 1; done
  # shellcheck disable=SC2046 # lists
  compile $(objects "${sources[@]}") $(libraries) -o "$work/heddle" && link_policies
}
link_policies() {
  # shellcheck disable=SC2046 # lists
  compile $(objects "${sources[@]}" | grep -vE '^(tools|bench)_') tests_t_policies.c.o tests_model.c.o tests_testing.c.o $(libraries) -o "$work/t_policies"
}
claims() { HEDDLE_TEST_ONLY=flags "$work/t_policies"; }

started=$SECONDS
(build >"$work/words" 2>&1)
result $? "the library, the command and a test build with the new policy" "$work/words"
echo "# built in $((SECONDS - started)) s"

(claims >"$work/words" 2>&1 && grep -q '^ok 1 - flags' "$work/words")
result $? "its flags hold, and those it does not claim do not" "$work/words"
(cd "$tree" && sed -i 's/HD_MONOTONE | HD_ORDER_FREE)/HD_MONOTONE | HD_ORDER_FREE | HD_SCORES_USED)/' policies/twice.h &&
  compile -c tests/t_policies.c -o tests_t_policies.c.o && link_policies && ! claims) >"$work/words" 2>&1 &&
  grep -q 'SCORES_USED is wrong' "$work/words"
result $? "a claim that does not hold is found" "$work/words"

if [ -x "$work/heddle" ]; then
  "$work/heddle" list policies --csv >"$work/words" 2>&1 && grep -q '^policies,twice,.*,MONOTONE ORDER_FREE$' "$work/words"
  result $? "heddle list policies shows it" "$work/words"

  cd "${HEDDLE_DATA:-$work}" || exit 1
  sed -n '/^```console$/,/^```$/s/^\$ heddle //p' "$page" >"$work/commands"
  [ -s "$work/commands" ]
  result $? "the page has commands"
  while read -r -a argument; do
    if [[ "${argument[*]}" == *cloudPhysicsIO* ]] && [ ! -r cloudPhysicsIO.oracleGeneral.zst ]; then
      skip "heddle ${argument[*]}" "the trace is not in HEDDLE_DATA"
      continue
    fi
    "$work/heddle" "${argument[@]}" >"$work/words" 2>&1
    code=$?
    result $code "heddle ${argument[*]}" "$work/words"
    if [[ "${argument[*]}" == *--judge* ]]; then
      grep -q "all truthful; the policy's scores were taken at its word" "$work/words"
      result $? "... and the judge says what it took at its word" "$work/words"
    fi
    block output "heddle ${argument[*]}" >"$work/page"
    [ -s "$work/page" ] || continue
    # as many columns as the page shows, blanks squeezed
    columns=$(head -n 1 "$work/page" | sed 's/miss ratio/miss_ratio/' | wc -w)
    sed -n '/^policy /,$p' "$work/words" | sed 's/miss ratio/miss_ratio/' | awk -v n="$columns" '{ for (i = 1; i <= n; i++) printf "%s ", $i; print "" }' >"$work/got"
    sed 's/miss ratio/miss_ratio/' "$work/page" | awk -v n="$columns" '{ for (i = 1; i <= n; i++) printf "%s ", $i; print "" }' >"$work/want"
    diff "$work/want" "$work/got" >"$work/words"
    result $? "... prints what the page shows" "$work/words"
  done <"$work/commands"
fi

finish
