# SPDX-License-Identifier: Apache-2.0
#
# t_extend.sh - doc/extending.md keeps its word: its files and lines are applied to a copy of the sources, the library and the command are
# built from that, and the policy and the kernel it adds are listed, judged, and as good as the page says; the kernel, spoiled as the
# page says, is found out; and what heddle sched finds in it, it shows again. papers/hkv/nodigest.h, a kernel for one experiment, is built with
# them and judged, too. With HEDDLE_SAME=FOLDER that goes there, for the matrix.
#
# In the page, a code block after <!-- file: PATH --> is that file, one after <!-- append: PATH --> is added to it, and lines of
# ```console that begin with "$ heddle" are run; <!-- output: COMMAND --> is what a command prints, columns that depend on time left out.
# What <!-- broken: N --> does to the kernel (sed), t_agree answers with <!-- says: N -->, give or take the numbers.
# shellcheck source=tests/cases.sh
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
for room in include base lib ref hashes policies predicates concurrency workload judge fuzz tools bench simt gpu papers tests; do
  cp -r "$top_srcdir/$room" "$tree/"
done
chmod -R u+w "$tree"
marks file | while read -r path; do block file "$path" >"$tree/$path"; done
marks append | while read -r path; do block append "$path" >>"$tree/$path"; done
applied() { [ -s "$tree/$1" ] && grep -qxF "$3" "$tree/$2"; }
applied policies/twice.h policies/registry.inc '#include "policies/twice.h"' &&
  applied gpu/hkv/pair.h gpu/hkv/registry.inc '#include "gpu/hkv/pair.h"' &&
  [ "$(marks file | wc -l) $(marks append | wc -l)" = '2 2' ]
result $? "the page's blocks were applied: a file and a line each"

# The C sources that the makefile lists, but those of single tests, examples, fuzzers and the museum, hardly optimised (or not at all, as the build is), for a machine without a device;
# what make itself made is taken from where it is.
mapfile -t sources < <(sed -e 's/#.*//' -e '/^tests_/d' -e '/^examples_/d' -e '/entry/d' -e '/soak_bug/d' "$top_srcdir/Makefile.am" |
  grep -oE '(^|[[:space:]])(base|lib|ref|concurrency|workload|judge|fuzz|tools|bench|simt|gpu|tests)/[a-z_0-9/]+\.c([[:space:]]|$)' | tr -d ' \t' | grep -v '^tests/t_' | sort -u)
programs=(t_policies t_agree t_kernels)
level=-O1
[[ " ${CFLAGS:-} " != *" -O0 "* ]] || level=-O0
flags=(-std=c11 "$level" -Wall -Wextra -Wno-unused-function -Werror -ffp-contract=off -D_GNU_SOURCE
  -DHKV_MORE=papers/hkv/nodigest.h '-DHD_PKGLIBEXECDIR=""' '-DHD_BUILD_FLAGS=""' '-DHD_PLOT_PYTHON=""' -I. -Iinclude "-I$top_builddir")
# shellcheck disable=SC2086 # lists
compile() { ${CC:-cc} "${flags[@]}" $HD_SANITIZE "$@"; }
objects() { local f; for f; do echo "${f//\//_}.o"; done; }
# shellcheck disable=SC2046 # lists
libraries() { "${PKG_CONFIG:-pkg-config}" --libs libxxhash libzstd zlib jansson cmocka; echo -lpthread -lm; }

objects_of() { objects "${sources[@]}" | grep -vE "^($1)_"; }

build() {
  local f
  cd "$tree" || return 1
  for f in "${sources[@]}" "${programs[@]/%/.c}"; do
    case $f in t_*) f=tests/$f ;; esac
    compile -c "$f" -o "${f//\//_}.o" || return 1
  done
  link_heddle heddle || return 1
  for f in "${programs[@]}"; do link "$f" || return 1; done
}
link_heddle() {
  # shellcheck disable=SC2046 # lists
  compile $(objects_of tests) $(libraries) -o "$work/$1"
}
link() {
  # shellcheck disable=SC2046 # lists
  compile $(objects_of 'tools|bench') "tests_$1.c.o" $(libraries) -o "$work/$1"
}
again() { compile -c "$1" -o "${1//\//_}.o" && link "$2"; }
claims() { HEDDLE_TEST_ONLY=flags "$work/t_policies"; }

started=$SECONDS
(build >"$work/words" 2>&1)
result $? "the library, the command and the tests build with the new policy and the new kernel" "$work/words"
echo "# built in $((SECONDS - started)) s"

(claims >"$work/words" 2>&1 && grep -q '^ok 1 - flags' "$work/words")
result $? "its flags hold, and those it does not claim do not" "$work/words"
(cd "$tree" && sed -i 's/HD_MONOTONE | HD_ORDER_FREE)/HD_MONOTONE | HD_ORDER_FREE | HD_SCORES_USED)/' policies/twice.h &&
  again tests/t_policies.c t_policies && ! claims) >"$work/words" 2>&1 &&
  grep -q 'SCORES_USED is wrong' "$work/words"
result $? "a claim that does not hold is found" "$work/words"

# shellcheck disable=SC2046 # lists
(cd "$tree" && compile "$top_srcdir/examples/policy.c" $(objects_of 'tests|tools|bench') $(libraries) -o "$work/policy" &&
  "$work/policy" twice >"$work/screen") >"$work/words" 2>&1 && grep -qE '^twice +[0-9]+$' "$work/screen"
result $? "examples/policy runs the new policy" "$work/words"

# The tests that walk the registry of kernels, a share of them.
of_pair() { (cd "$work" && HEDDLE_TEST_ONLY=$1 HEDDLE_TEST_SCALE=1/${3:-8} "./$2"); }
(of_pair 'pair_*' t_agree >"$work/words" 2>&1 && grep -q '^ok 1 - pair_agrees' "$work/words")
result $? "t_agree holds the new kernel against the reference" "$work/words"
(of_pair 'pair_*' t_kernels >"$work/words" 2>&1 && grep -q '^ok [0-9]* - pair_conserves' "$work/words")
result $? "t_kernels runs it" "$work/words"
(of_pair 'nodigest_*' t_agree >"$work/words" 2>&1 && grep -q '^ok 1 - nodigest_agrees' "$work/words")
result $? "t_agree holds the kernel without digests against the reference" "$work/words"
of_pair '*_sectors' t_kernels 2>&1 | sed -n 's/^# \(.*: sectors per key\)/\1/p' | grep -v '^nodigest' >"$work/got"
block output sectors | diff - "$work/got" >"$work/words" && [ -s "$work/got" ]
result $? "it asks for as many sectors as the page shows" "$work/words"

numbers() { sed -E 's/[0-9]+/N/g' "$@"; }
cp "$tree/gpu/hkv/pair.h" "$work/pair.h"
for n in $(marks broken); do
  block broken "$n" >"$work/edit"
  (cd "$tree" && sed -f "$work/edit" "$work/pair.h" >gpu/hkv/pair.h && ! cmp -s "$work/pair.h" gpu/hkv/pair.h &&
    again gpu/hkv/host.c t_agree && ! of_pair 'pair_*' t_agree) >"$work/words" 2>&1 &&
    numbers "$work/words" | grep -qF "$(block says "$n" | numbers)" && grep -qE '; seed [0-9]+;' "$work/words"
  result $? "spoiled in the page's way $n, it is found out: a sentence and a seed" "$work/words"
done

# The fault of museum/bugs/no_locked_check.bug, which shows in some schedules only. heddle sched finds it; finds it at once from
# its seed, and makes it as short; and the command that it prints tells the same sentence and the same steps.
sed 's/while (!hkv_try/if (family == HKV_UPDATE \&\& o.outcome == HKV_UNDECIDED) {\
            hkv_search(t, a, family, \&o, hkv_digests_of(a, o.first), hkv_digests_of(a, o.second));\
            o.at_first.busy = o.at_second.busy = false;\
        }\
        &/' "$work/pair.h" >"$tree/gpu/hkv/pair.h"
finds() { # finds TO WORD...
  local to=$1
  shift
  "$work/spoiled" "$@" >"$work/$to"
  [ $? = 1 ]
}
shown_again() {
  finds found sched 'hkv.assign.pair batch=3x1' && fact wrong found && fact schedule found || return 1
  finds seed sched 'hkv.assign.pair batch=3x1' --seed "$(fact seed found)" --schedules 1 && diff <(of_one found) <(of_one seed) || return 1
  local again=()
  eval "again=($(fact again found))" # its quotes are a shell's
  finds again "${again[@]:1}" && diff <(of_one found) <(of_one again)
}
fact() { sed -n "s/^$1  *//p" "$work/$2" | grep .; }
of_one() { grep -vE '^(schedules|distinct|interleavings|time|rate) ' "$work/$1"; }
(cd "$tree" && compile -c gpu/hkv/host.c -o gpu_hkv_host.c.o && link_heddle spoiled && shown_again) >"$work/words" 2>&1
result $? "what heddle sched finds it shows again, from the seed and from the schedule" "$work/words"
[ -z "${HEDDLE_SAME:-}" ] || grep -vE '^(time|rate) ' "$work/found" >"$HEDDLE_SAME/spoiled"

if [ -x "$work/heddle" ]; then
  "$work/heddle" list kernels --csv >"$work/words" 2>&1 && [ "$(grep -c '^kernels,pair,"host, ' "$work/words")" = 3 ]
  result $? "heddle list kernels shows the kernel" "$work/words"
  "$work/heddle" list policies --csv >"$work/words" 2>&1 && grep -q '^policies,twice,.*,MONOTONE ORDER_FREE$' "$work/words"
  result $? "heddle list policies shows the policy" "$work/words"

  cd "${HEDDLE_DATA:-$work}" || exit 1
  sed -n '/^```console$/,/^```$/s/^\$ heddle //p' "$page" >"$work/commands"
  [ -s "$work/commands" ]
  result $? "the page has commands"
  while read -r line; do
    declare -a argument="($line)" # the page's quotes are a shell's
    if [[ "${argument[*]}" == *cloudPhysicsIO* ]] && [ ! -r cloudPhysicsIO.oracleGeneral.zst ]; then
      skip "heddle ${argument[*]}" "the trace is not in HEDDLE_DATA"
      continue
    fi
    "$work/heddle" "${argument[@]}" >"$work/words" 2>&1
    code=$?
    case $line in # what it must say besides
    diff*) grep -q '^same  *yes$' "$work/words" ;;
    sched*) grep -q '^bugs  *0$' "$work/words" ;;
    explain*) grep -q ' 0-1  *reads  *digest' "$work/words" ;;
    bench*) grep -qE '^hkv.find.pair.* [kM]/s' "$work/words" ;;
    esac || code=1
    result $code "heddle $line" "$work/words"
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
