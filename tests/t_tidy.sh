# SPDX-License-Identifier: Apache-2.0
#
# t_tidy.sh - the structure of the source tree: which files include which, what the library may call, which symbols are
# public, which files must not exist. Each case lists violations; an empty list passes.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$top_srcdir" || exit 1
objects=$top_builddir
self=tests/t_tidy.sh

rooms=()
for room in include base lib ref policies concurrency workload judge tools simt gpu fuzz bench papers learn examples python; do
  [ -d "$room" ] && rooms+=("$room")
done
mapfile -t text < <(
  find "${rooms[@]}" tests -type f ! -path "bench/lab/*" \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' -o -name '*.sh' -o -name '*.py' -o -name '*.map' \)
  ls configure.ac Makefile.am heddle*.pc.in heddle-config*.cmake.in autogen.sh build-aux/m4/hd_*.m4 build-aux/setup.sh tests/tap-run \
    tools/completion/*.bash try check .ci/run 2>/dev/null)
mapfile -t c < <(printf '%s\n' "${text[@]}" | grep -E '\.([ch](pp)?|cuh?|inc)$')
mapfile -t pages < <(find . -maxdepth 1 -name '*.md'; find doc bench fuzz papers -name '*.md' 2>/dev/null)

# includes FILE-PATTERN FORBIDDEN: lines of files that match and include what matches.
includes() { printf '%s\n' "${c[@]}" | grep -E "$1" | xargs -r grep -nE "^ *# *include *[\"<]($2)" /dev/null; }

# ---- Inclusion points down ----------------------------------------------------------------------

git ls-files 2>/dev/null | sed -n 's,^\([^./][^/]*\)/.*,\1,p' | sort -u | awk 'END { if (NR > 20) print NR }' | none "at most 20 folders at the top"

# Every folder has a layer. tests/ and examples/ include what they like.
layers=$(grep -v '^#' tests/layers.txt)
printf '%s\n' "${c[@]}" | xargs grep -oE '^ *# *include *"[^"]+"' /dev/null | sed -E 's/^([^:]+): *# *include *"([^"]+)"/\1 \2/' |
  awk -v layers="$layers" '
    BEGIN { n = split(layers, line, "\n"); for (i = 1; i <= n; i++) { m = split(line[i], name, " "); for (j = 1; j <= m; j++) layer[name[j]] = i } }
    function folder(f,  part) { if (split(f, part, "/") > 2 && (part[1] "/" part[2]) in layer) return part[1] "/" part[2]; return f ~ /\// ? substr(f, 1, index(f, "/") - 1) : f == "heddle.h" || f == "heddle.hpp" ? "include" : "" }
    $2 ~ /^puzzles\// { $2 = "learn/" $2 } # as answers name them
    $2 ~ /^gfsl\// { $2 = "papers/ovs/" $2 }
    $2 ~ /^merlin\// { $2 = "include/heddle/" $2 }
    { from = folder($1); to = folder($2) }
    from == to || to == "" || from ~ /^(tests|examples)$/ || $1 ~ /^papers\/.*\/tests\// { next }
    !(from in layer) || !(to in layer) { print $1 ": " $2 ": a folder without a layer"; next }
    layer[to] >= layer[from] { print $1 ": includes " $2 }' | none "no include points up between folders"
includes '^gpu/.*\.(h|cu|inc)$' 'ref/' | grep -vE 'ref/[a-z]+/layout\.h' | none "kernels take only layouts from ref/"
includes '^judge/[a-z_]*\.' '(ref|policies|gpu)/' | grep -vE '^judge/(trusted_rows\.c|fixture\.c:.*policies/predicates/)' |
  none "the oracle shares no text with what it checks"
includes '^tests/model' '(ref|policies)/' | none "the tests' model is written without ref/ and policies/"

# The host machine calls observers only by hooks: includes and calls between the files of simt/ have no cycle.
acyclic() { tsort 2>&1 >/dev/null | grep '^tsort: .*\.' ; }
grep -oE '^ *# *include *"simt/[^"]+"' simt/*.[ch] | sed -E 's/^([^:]+): *# *include *"([^"]+)"/\1 \2/' | acyclic | none "no file of simt/ includes itself in the end"
objects_of_simt=()
for source in simt/*.c; do
  for o in "$objects/${source%/*}/.libs/$(basename "$source" .c).o" "$objects/${source%.c}.o"; do [ -e "$o" ] && objects_of_simt+=("$o") && break; done
done
if [ ${#objects_of_simt[@]} -gt 10 ] && command -v nm >/dev/null; then
  nm -A "${objects_of_simt[@]}" | sed -E 's/^([^:]*\/)?([^:/]+):[0-9a-f]* *([A-Za-z]) ([^ @]+).*/\2 \3 \4/' >"$work/symbols"
  awk '$2 ~ /[TBDRVW]/ { at[$3] = $1 } { file[NR] = $1; kind[NR] = $2; name[NR] = $3 }
       END { for (i = 1; i <= NR; i++) if (kind[i] == "U" && name[i] in at && at[name[i]] != file[i]) print file[i], at[name[i]] }' "$work/symbols" | sort -u >"$work/calls"
  { grep -q '^observers\.o race\.o' "$work/calls" || echo "the calls were not seen"; acyclic <"$work/calls"; } | none "no object of simt/ needs itself in the end"
else
  skip "no object of simt/ needs itself in the end" "nm or the objects are missing"
fi

# ---- The table of operations ---------------------------------------------------------------------

# Code compares operations with == and != only. HD_OP_COUNT_ and HD_OP_MIXED, which follow them all, are bounds.
printf '%s\n' "${c[@]}" | xargs grep -nE 'HD_OP_[A-Z_]*[A-Z] *(<=?|>=?)([^<>=]|$)|(^|[^-<>])(<=?|>=?) *HD_OP_[A-Z_]*[A-Z]\b|HD_OP_[A-Z_]*[A-Z] *[-+%]|[-+%] *HD_OP_[A-Z_]*[A-Z]\b' /dev/null |
  grep -v HD_OP_MIXED | none "nothing depends on the order of operations"

# Code of one design is in its folder, or in a file with its name. Elsewhere only these name a design: registries, the
# default design, a word of a fuzzer, and two programs for certain designs. The fields of a design's struct are its own,
# too: other code asks for them by base/param.h.
designs=$(sed -n 's/^HD_DESIGN(hd_design_\([a-z]*\))$/\1/p' lib/designs.inc | paste -sd '|')
names="\"($designs)\"|\\b($designs)_[a-z]\\w*|\\w_($designs)(_\\w*)?\\b|(\\.|->)($designs)\\b|\\b(${designs^^})_[A-Z]"
named='^(lib/designs\.inc|judge/(designs|space)\.inc|bench/device/goals\.[ch]|base/param\.c:[0-9]+:.*"design", .*\.text = "hkv"|fuzz/fuzz_snapshot\.c:[0-9]+:.*"SLOT", .*"hkv"|judge/device/soak\.cu|judge/museum/search_prefetch\.c):?'
for d in ${designs//|/ }; do
  for text in "c.$d.x" "c->$d.x" "f(&c.$d)" "\"$d\"" "${d}_x()" "x_$d()" "x_${d}_x()" "${d^^}_X"; do
    grep -qE "$names" <<<"$text" || echo "$text"
  done
done | { [ -n "$designs" ] || echo "no designs"; cat; } | none "each way to name a design is seen"
printf '%s\n' "${c[@]}" | grep -E '^(base|simt|concurrency|policies|lib|workload|judge|bench|tools|fuzz)/' |
  grep -vE "(^|[/_])($designs)[/_.]" | xargs grep -nE "$names" /dev/null |
  grep -vE ":[0-9]+: *\*|:[0-9]+:.*# *include|:[0-9]+:.*/\*[^\"]*\"($designs)\"" | grep -vE "$named" | none "no generic file names a design"

# The suite of kernels (tests/conform.h) has the data of every design, and Makefile.am a program of it.
sed -n 's/^JUDGE_DESIGN(\([a-z_]*\)).*/\1/p' judge/designs.inc | while read -r design; do
  [ -f "tests/designs/$design.c" ] || echo "tests/designs/$design.c is not there"
  grep -q "^tests_t_[a-z_]*_SOURCES = tests/conform_agree.c tests/designs/$design.c" Makefile.am || echo "no test is made of tests/designs/$design.c"
done | none "every design of the judge is in the suite of kernels"

# ---- What the library reaches --------------------------------------------------------------------
#
# Asked of the objects, so that no macro and no comment can mislead: ARCHIVE(MEMBER): U SYMBOL.

undefined() { nm -A -u "$objects/.libs/$1.a" 2>/dev/null | sed 's/@.*//' | grep -E " U _*(${2})(_chk)?\$"; }
both() { undefined libheddle_all "$1"; undefined libheddle_work "$1"; }
# libtool puts ltN- before the names of objects that occur twice.
judges="(lt[0-9]+-)?($(find judge -name '*.c' -exec basename {} .c \; | sort -u | paste -sd '|'))"
# past_the_seams SYMBOLS: the objects that use these symbols without a seam. Allowed: judges, which are no part of the
# library, allocate memory; simt/machine.c maps the stacks of its fibers, so that only touched pages cost memory;
# device_cuda.cu is the seam of the device, and pins memory.
past_the_seams() { both "$1" | grep -vE 'libheddle_all\.a:(seam\.o:|device_cuda\.o: *U (free|posix_memalign)$|machine\.o: *U mmap$)' | grep -vE "libheddle_work\.a:$judges\.o:"; }

if [ -f "$objects/.libs/libheddle_all.a" ] && command -v nm >/dev/null; then
  say='printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs|putchar|putc|fputc|fwrite|perror|psignal|syslog|err|warn|errx|warnx|stdout|stderr'
  leave='exit|_exit|_Exit|quick_exit|abort|raise|kill'
  memory='malloc|calloc|realloc|aligned_alloc|posix_memalign|free|strdup|strndup|asprintf|vasprintf|mmap'
  files='f?open(at)?(64)?|f?read|p?read(64)?|f?write|pwrite(64)?|close|fclose|rename|unlink|fsync|fdatasync|f?stat(64)?|lseek(64)?'
  clocks='clock_gettime|gettimeofday|time|clock'
  for reached in "$memory" "$files" "$clocks"; do
    undefined libheddle_all "$reached" | grep -q ':seam\.o:' || echo "the seam itself was not seen to reach $reached"
  done | none "this test can see what an object reaches"
  both "$say"   | grep -v 'libheddle_all\.a:assert\.o:' | none "lib/ ref/ workload/ judge/ print nothing but broken assertions"
  both "$leave" | grep -v 'libheddle_all\.a:assert\.o:' | none "lib/ ref/ workload/ judge/ never end the process but by them"
  past_the_seams "$memory"  | none "lib/ ref/ workload/ take memory through the seam only"
  past_the_seams "$files"   | none "lib/ ref/ workload/ reach files through the seam only"
  past_the_seams "$clocks"  | none "lib/ ref/ workload/ read the time through the seam only"
  both 's?rand(om)?(_r)?|setlocale|signal|sigaction' | none "lib/ ref/ workload/ judge/ keep no state of the process"
  undefined libheddle_all 'getenv|secure_getenv' | none "the library reads no environment"
else
  skip "what the library reaches" "nm or the objects are missing"
fi

# ---- What is public ------------------------------------------------------------------------------

declared=$(sed -n 's/^HD_API .*[ *]\(hd_[a-z0-9_]*\)(.*/\1/p' include/heddle.h include/heddle_view.h | sort)
mapped=$(sed -n 's/^ *\(hd_[a-z0-9_]*\);$/\1/p' lib/heddle.map | sort)
{ [ -n "$declared" ] || echo "no HD_API lines"; diff <(echo "$declared") <(echo "$mapped") | grep '^[<>]'; } |
  none "lib/heddle.map names what the headers declare"
for library in libheddle libheddle-sim; do
  if [ -f "$objects/.libs/$library.so" ] && command -v nm >/dev/null; then
    exported=$(nm -D --defined-only "$objects/.libs/$library.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
    diff <(echo "$declared") <(echo "$exported") | grep '^[<>]' | none "$library exports exactly that"
  else
    skip "$library exports exactly that" "no $library.so here"
  fi
done
if [ -f "$objects/.libs/libheddle_core.a" ] && command -v nm >/dev/null; then
  nm "$objects/.libs/libheddle_all.a" | grep -i gfsl | none "the library has nothing of gfsl, a design outside it"
  nm -A -u "$objects/.libs/libheddle_core.a" | grep -E ' U (simt_|hd_host_)' | none "libheddle needs nothing of the host SIMT machine"
fi
macro() { sed -n "s/^#define HD_VERSION_$1 //p" include/heddle.h; }
version=$(macro MAJOR).$(macro MINOR).$(macro PATCH)
{ grep -qF "AC_INIT([heddle], [$version])" configure.ac || echo "heddle.h says $version; configure.ac does not"; } |
  none "header and configure agree on the version"

# A batch with distinct keys would else run the general entry, at half of the rate of one without that promise.
entries=$(sed -n 's/^HIVE_SPECIAL(\(hive_special_[A-Za-z_]*\),$/\1/p' gpu/hive/kernels.cu)
{ [ -n "$entries" ] || echo "no special entries"
  grep -E '(INSERT|ACCUM|_true_).*_false$' <<<"$entries" | while read -r f; do grep -qx "${f%_false}_true" <<<"$entries" || echo "$f"; done
} | none "a special entry of an operation that inserts has a twin for distinct keys"

# ---- What every file has, and what none may ------------------------------------------------------

printf '%s\n' "${text[@]}" | grep -vE '\.pc\.in$' |
  while read -r f; do head -n 3 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$f"; done | none "every file names its licence"
grep -nE '\b(TODO|FIXME|XXX|HACK)\b' /dev/null "${text[@]}" "${pages[@]}" | grep -v "^$self:" | none "nothing is marked as unfinished"
grep -nE '(^|[^[:alnum:]_.~-])/(work|home|root|Users|mnt)/' /dev/null "${text[@]}" "${pages[@]}" | grep -v "^$self:" |
  none "no path of one machine"
grep -nF '../shared' /dev/null "${text[@]}" "${pages[@]}" | grep -vE "^($self|Makefile\.am):" | none "test data are found through HEDDLE_DATA"
grep -nE '[[:blank:]]+$' /dev/null "${text[@]}" | none "no blanks at the ends of lines"
grep -nP '\t' /dev/null "${c[@]}" | none "no tabs in C"
printf '%s\n' "${c[@]}" | grep -E '^(gpu|lib|ref|judge)/' | while read -r f; do wc -l "$f"; done | awk '$1 > 600' |
  none "no file of the core has more than 600 lines"
grep -nP '\r' /dev/null "${text[@]}" "${pages[@]}" | none "no carriage returns"
# HierarchicalKV has a header utils.cuh, which its programs include.
find "${rooms[@]}" tests -name 'common.*' -o -name 'util*' -o -name 'misc*' -o -name old -o -name core |
  grep -vx include/heddle/merlin/utils.cuh | none "no rooms for odds and ends"
printf '%s\n' "${c[@]}" tests/*.sh | grep -E '\.(c|cpp|sh)$' | grep -vE '^(gpu|fuzz|python|examples/(design|extend))/|^learn/puzzles/[a-z]+/(start|model)\.c$' | sort -u |
  while read -r f; do
    grep -qE "(^|[[:space:]])(${f//./\\.}|${f%.c})([[:space:]]|\$)" Makefile.am || echo "$f is not in Makefile.am"
  done | none "the makefile knows every source and test"

finish
