# SPDX-License-Identifier: Apache-2.0
#
# t_areas.sh - the table of areas that ./check prints agrees with the logs of the tests: sums of counts and times by
# area, failures, shortfalls and their reasons. And tests and areas.txt name each other.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$top_srcdir" || exit 1
areas=tests/areas.txt

field() { grep -v '^#' $areas | grep '|' | cut -d'|' -f"$1" | sed 's/^ *//; s/ *$//'; } # NUMBER
row_of() { grep -E "^$1 *\|" $areas; }

# The programs that a source is part of, and the sources of a test.
programs_of() {
  local programs
  programs=$(grep "_SOURCES = .*$1" Makefile.am | sed -nE 's/^tests_(t_[a-z_]+)_SOURCES.*/\1/p')
  echo "${programs:-$(basename "$1" .c)}"
}
sources_of() { { sed -n "s/^tests_$1_SOURCES = //p" Makefile.am | tr ' ' '\n'; ls "tests/$1" "tests/$1.c" "papers/ovs/gfsl/tests/$1.c" 2>/dev/null; } | grep -E '\.(c|sh)$'; }

grep -oE 'test_tried\((memory \? )?"[a-z-]+"( : "[a-z-]+")?' tests/*.c tests/designs/*.c papers/ovs/gfsl/tests/*.c | while IFS=: read -r file call; do
  for program in $(programs_of "$file"); do
    grep -oE '"[a-z-]+"' <<<"$call" | tr -d '"' | while read -r area; do
      row_of "$area" | cut -d'|' -f3 | grep -qw "$program" || echo "$file tries $area in $program; $areas does not know"
    done
  done
done | none "areas.txt knows what every program tries"
grep -oE '^tried [a-z-]+' tests/t_*.sh | while IFS=: read -r file call; do
  row_of "${call#tried }" | cut -d'|' -f3 | grep -qw "$(basename "$file")" || echo "$file tries ${call#tried }; $areas does not know"
done | none "areas.txt knows what every script tries"
field 3 | tr ' ' '\n' | grep . | sort -u | while read -r test; do
  mapfile -t sources < <(sources_of "$test")
  [ "${#sources[@]}" -gt 0 ] || echo "$test is not there"
  grep -qE 'tried[ (]' "${sources[@]}" /dev/null || echo "$test tries nothing"
done | none "every test that areas.txt names is there, and says what it tried"
{ [ "$(field 1 | wc -l)" -ge 17 ] || echo "only $(field 1 | wc -l)"; field 1 | sort | uniq -d; } | none "there are areas, each once"
grep -v '^#' $areas | awk -F'|' 'NF != 5 { print "not five fields: " $0 } NF == 5 && $3 ~ /^ *$/ && $5 ~ /^ *-? *$/ { print "not tried here, and no reason: " $0 }' |
  none "what is not tried here says why"

# ---- Made-up logs ---------------------------------------------------------------------------------------

mkdir "$work/logs"
ran() { # TEST PASSED FAILED SKIPPED, and what it said
  local i
  : >"$work/logs/$1.trs"
  for ((i = 0; i < $2; i++)); do echo ":test-result: PASS $i"; done >>"$work/logs/$1.trs"
  for ((i = 0; i < $3; i++)); do echo ":test-result: FAIL $i"; done >>"$work/logs/$1.trs"
  for ((i = 0; i < $4; i++)); do echo ":test-result: SKIP $i"; done >>"$work/logs/$1.trs"
  cat >"$work/logs/$1.log"
}
table() { HEDDLE_TEST_SCALE=${scale:-1} tests/areas.sh "$work/logs" >"$work/table" 2>&1; }
says() { if grep -qE -- "$2" "$work/table"; then pass "$1"; else words=$work/table fail "$1" "no line like: $2"; fi; }
says_not() { if grep -qE -- "$2" "$work/table"; then words=$work/table fail "$1" "a line like: $2"; else pass "$1"; fi; }

ran t_misuse 3 0 0 <<<'# tried misuse 600 1.500 things'
ran t_hostile_api 1 0 0 <<<'# tried misuse 0 0.000 things'
ran t_damage 2 1 0 <<<$'# tried snapshots 30000 2.000 bits\n# tried snapshots 4000 0.500 lengths'
ran t_snapshot 2 2 0 <<<''
ran t_trace_bad 1 0 0 <<<'# tried traces 80000 1.000 noise'
ran t_stream 1 0 0 <<<'# tried traces 1000 1.000 noise'
ran t_alloc 0 0 1 <<<''
if table; then pass "a table"; else words=$work/table fail "a table"; fi
says "counts, promise, seconds" '^misuse +600 +500 +1\.5 +0 '
says "several lines and tests of one area are added up" '^snapshots +34,000 +20,000 +2\.5 +3 '
says "who said nothing is named" 'said nothing \(skipped, or failed before\): t_snapshot'
says "what is short says why" 'seventeen forms'
says "what did not run is named" 'did not run: t_allocator|did not run: t_simt'
says_not "areas of no test that ran are left out" '^(models|gpu|coverage) '
scale=1/16 table
says "a smaller suite is said to be one" 'less than promised: HEDDLE_TEST_SCALE is 1/16'
ran t_misuse 3 0 0 <<<'# tried misuse 400 1.500 things'
table
says "short for no known reason" '^ +less than promised(;|$)'
ran t_misuse 3 0 0 <<<'# tried cheese 600 1.500 things'
if table; then fail "an area that is none" "passed"; else pass "an area that is none"; fi
says "it is named" 't_misuse tried cheese, which is no area'
finish
