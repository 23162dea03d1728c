# SPDX-License-Identifier: Apache-2.0
#
# t_tidy.sh - the house holds: who includes whom, what the library may reach, what is public, what must not lie about.
# Each case lists offenders; an empty list passes.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$top_srcdir" || exit 1
objects=$top_builddir
self=tests/t_tidy.sh

rooms=()
for room in include lib ref hashes policies predicates concurrency workload judge museum tools simt gpu fuzz bench papers examples python; do
  [ -d "$room" ] && rooms+=("$room")
done
mapfile -t text < <(
  find "${rooms[@]}" tests -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.inc' -o -name '*.sh' -o -name '*.py' -o -name '*.map' \)
  ls configure.ac Makefile.am heddle.pc.in autogen.sh m4/hd_*.m4 build-aux/setup.sh tests/tap-run \
    completion/*.bash try check .ci/run 2>/dev/null)
mapfile -t c < <(printf '%s\n' "${text[@]}" | grep -E '\.([ch]|cu|inc)$')
mapfile -t pages < <(find . -maxdepth 1 -name '*.md'; find doc bench fuzz papers -name '*.md' 2>/dev/null)

# includes FILE-PATTERN FORBIDDEN: lines of files that match and include what matches.
includes() { printf '%s\n' "${c[@]}" | grep -E "$1" | xargs -r grep -nE "^ *# *include *[\"<]($2)" /dev/null; }

# ---- Inclusion points down ----------------------------------------------------------------------

includes '^(ref|hashes|policies|predicates)/' 'gpu/'    | none "ref/ never includes gpu/"
includes '^hashes/' '' | grep -vE '"(simt/fn|ref/hash|hashes/[a-z0-9]+)\.(h|inc)"' | none "hashes/ includes nothing but the shared definitions"
includes '^gpu/' 'ref/' | grep -vE 'ref/([a-z]+_layout|hash)\.h' | none "gpu/ takes from ref/ only layouts and hashes"
includes '^judge/' '(ref|policies|predicates|gpu)/' | grep -vE '^judge/((borrow\.c|faces\.[ch]|[a-z]+_[a-z]+\.[ch]):|scene\.c:.*predicates/)' |
  none "the oracle is written without ref/ and policies/, but for its one door; who holds a design's kernels against ref/, in judge/DESIGN_*, is not it"
includes '^tests/model' '(ref|hashes|policies|predicates)/' | none "the tests' model is written without ref/ and policies/"
includes '^(include|lib|ref|hashes|policies|predicates|concurrency|simt|gpu)/' '(workload|judge|fuzz|tools|tests)/' |
  grep -vE '^lib/case\.[ch]:' | none "the library includes nothing from above it"
includes '^workload/' '(judge|fuzz|tools|tests|ref)/'   | none "workload/ includes nothing from judge/ fuzz/ tools/ tests/ ref/"
includes '^judge/' '(fuzz|tools|tests)/'                | none "judge/ includes nothing from fuzz/ tools/ tests/"
includes '^fuzz/' '(tools|tests)/'                      | none "fuzz/ includes nothing from tools/ tests/"
includes '^tools/' 'tests/'                             | none "tools/ includes nothing from tests/"
includes '^include/' '(lib|ref|policies|workload|concurrency|config\.h)' | none "the public header stands alone"

# ---- What the library reaches --------------------------------------------------------------------
#
# Asked of the objects, so that no macro and no comment can mislead: ARCHIVE(MEMBER): U SYMBOL.

undefined() { nm -A -u "$objects/.libs/$1.a" 2>/dev/null | sed 's/@.*//' | grep -E " U _*(${2})(_chk)?\$"; }
both() { undefined libheddle_all "$1"; undefined libheddle_work "$1"; }
judges=$(cd judge && printf '%s\n' *.c | sed 's/\.c$//' | paste -sd '|')
# past_the_seams SYMBOLS: who reaches them past the seams. The judge, which is no part of the library, may take memory; simt/machine.c maps
# the stacks of its fibers, of which only what is touched costs memory; device_cuda.cu is the device's seam, and pins memory.
past_the_seams() { both "$1" | grep -vE 'libheddle_all\.a:(seam\.o:|device_cuda\.o: *U (free|posix_memalign)$|machine\.o: *U mmap$)' | grep -vE "libheddle_work\.a:($judges)\.o:"; }

if [ -f "$objects/.libs/libheddle_all.a" ] && command -v nm >/dev/null; then
  say='printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs|putchar|putc|fputc|fwrite|perror|psignal|syslog|err|warn|errx|warnx|stdout|stderr'
  leave='exit|_exit|_Exit|quick_exit|abort|raise|kill'
  memory='malloc|calloc|realloc|aligned_alloc|posix_memalign|free|strdup|strndup|asprintf|vasprintf|mmap'
  files='f?open(at)?(64)?|f?read|p?read(64)?|f?write|pwrite(64)?|close|fclose|rename|unlink|fsync|fdatasync|f?stat(64)?|lseek(64)?'
  clocks='clock_gettime|gettimeofday|time|clock'
  for reached in "$memory" "$files" "$clocks"; do
    undefined libheddle_all "$reached" | grep -q ':seam\.o:' || echo "the seam itself was not seen to reach $reached"
  done | none "this test can see what an object reaches"
  both "$say"               | none "lib/ ref/ workload/ judge/ print nothing"
  both "$leave"             | none "lib/ ref/ workload/ judge/ never end the process"
  past_the_seams "$memory"  | none "lib/ ref/ workload/ take memory through the seam only"
  past_the_seams "$files"   | none "lib/ ref/ workload/ reach files through the seam only"
  past_the_seams "$clocks"  | none "lib/ ref/ workload/ read the time through the seam only"
  both 's?rand(om)?(_r)?|setlocale|signal|sigaction' | none "lib/ ref/ workload/ judge/ keep no state of the process"
  undefined libheddle_all 'getenv|secure_getenv' | none "the library reads no environment"
else
  skip "what the library reaches" "nm or the objects are missing"
fi

# ---- What is public ------------------------------------------------------------------------------

declared=$(sed -n 's/^HD_API .*[ *]\(hd_[a-z0-9_]*\)(.*/\1/p' include/heddle.h | sort)
mapped=$(sed -n 's/^ *\(hd_[a-z0-9_]*\);$/\1/p' lib/heddle.map | sort)
{ [ -n "$declared" ] || echo "no HD_API lines"; diff <(echo "$declared") <(echo "$mapped") | grep '^[<>]'; } |
  none "lib/heddle.map names what heddle.h declares"
if [ -f "$objects/.libs/libheddle.so" ] && command -v nm >/dev/null; then
  exported=$(nm -D --defined-only "$objects/.libs/libheddle.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
  diff <(echo "$declared") <(echo "$exported") | grep '^[<>]' | none "the shared library exports exactly that"
else
  skip "the shared library exports exactly that" "no libheddle.so here"
fi
macro() { sed -n "s/^#define HD_VERSION_$1 //p" include/heddle.h; }
version=$(macro MAJOR).$(macro MINOR).$(macro PATCH)
{ grep -qF "AC_INIT([heddle], [$version])" configure.ac || echo "heddle.h says $version; configure.ac does not"; } |
  none "header and configure agree on the version"

# ---- What every file has, and what none may ------------------------------------------------------

printf '%s\n' "${text[@]}" | grep -vE '\.pc\.in$' |
  while read -r f; do head -n 3 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$f"; done | none "every file names its licence"
grep -nE '\b(TODO|FIXME|XXX|HACK)\b' /dev/null "${text[@]}" "${pages[@]}" | grep -v "^$self:" | none "nothing is marked as unfinished"
grep -nE '(^|[^[:alnum:]_.~-])/(work|home|root|Users|mnt)/' /dev/null "${text[@]}" "${pages[@]}" | grep -v "^$self:" |
  none "no path of one machine"
grep -nF '../shared' /dev/null "${text[@]}" "${pages[@]}" | grep -vE "^($self|Makefile\.am):" | none "test data are found through HEDDLE_DATA"
grep -nE '[[:blank:]]+$' /dev/null "${text[@]}" | none "no blanks at the ends of lines"
grep -nP '\t' /dev/null "${c[@]}" | none "no tabs in C"
grep -nP '\r' /dev/null "${text[@]}" "${pages[@]}" | none "no carriage returns"
find "${rooms[@]}" tests -name 'common.*' -o -name 'util*' -o -name 'misc*' -o -name old -o -name core | none "no rooms for odds and ends"
printf '%s\n' "${c[@]}" tests/*.sh | grep -E '\.(c|sh)$' | grep -vE '^(gpu|fuzz|python)/' | sort -u |
  while read -r f; do
    grep -qE "(^|[[:space:]])(${f//./\\.}|${f%.c})([[:space:]]|\$)" Makefile.am || echo "$f is not in Makefile.am"
  done | none "the makefile knows every source and test"

finish
