# SPDX-License-Identifier: Apache-2.0
#
# t_extend.sh - tests of the worked examples of doc/extending.md. The test takes them from the page, applies them to a
# copy of the sources, counts the files that each touches, builds the copy without CUDA, and runs the page's commands.
# The edits that break an example must be found. The build includes papers/hkv/nodigest.h, a kernel for one experiment.
# With HEDDLE_SAME=FOLDER the test writes a finding there, and matrix.sh compares it between builds.
#
# Marks in the page:
#   <!-- example: NAME -->     begins an example; the line "Files touched: N" after it says how many files
#   <!-- file: PATH -->        the next code block is that file
#   <!-- append: PATH -->      the next code block is appended to that file
#   <!-- patch: NAME -->       the next code block is a diff
#   <!-- apply: FILE -->       applies the diff
#   <!-- copy: FOLDER -->      adds the files of the folder
#   <!-- output: COMMAND -->   the next block is the output of the command, without columns that depend on time
#   <!-- broken: N -->         the next block is a sed script that breaks a kernel
#   <!-- says: N -->           the message of the test or of heddle sched that finds this, up to numbers
# Lines of ```console that begin with "$ heddle" are run.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
page=$top_srcdir/doc/extending.md
tree=$work/tree

result() { # result GOOD NAME [WORDS-FILE]
  if [ "$1" = 0 ]; then pass "$2"; else fail "$2" "${3:+$(tail -n 20 "$3")}"; fi
}
for tool in patch automake; do
  if ! command -v $tool >/dev/null; then
    skip "the worked examples are built" "$tool is missing"
    finish
  fi
done

# ---- The page --------------------------------------------------------------------------------------------------------

# block KIND PATH: the code block that follows <!-- KIND: PATH -->.
block() {
  awk -v mark="<!-- $1: $2 -->" '
    $0 == mark { armed = 1; next }
    armed && /^```/ { if (inside) exit; inside = 1; next }
    inside { print }' "$page"
}

# ---- The copy --------------------------------------------------------------------------------------------------------

mkdir "$tree"
for entry in "$top_srcdir"/*; do
  [ -e "$entry/config.status" ] || cp -rp "$entry" "$tree/"
done
chmod -R u+w "$tree"
rm -f "$tree"/{config.status,config.h,Makefile}
find "$tree" \( -name '*.o' -o -name '*.lo' -o -name '*.la' -o -name '*.Plo' -o -name '*.Po' \) -exec rm -f {} +

# The examples' changes, a line each: EXAMPLE PATH.
awk '/^<!-- example: / { name = $3 } /^<!-- (file|append|patch|apply|copy): / { print name, substr($2, 1, length($2) - 1), $3 }' "$page" >"$work/changes"
apply() { # apply EXAMPLE DIFF
  (cd "$tree" && patch -s -p1 -F0 --no-backup-if-mismatch <"$2") >&2 && sed -n "s|^+++ b/|$1 |p" "$2"
}
while read -r name kind path; do
  case $kind in
  file) mkdir -p "$(dirname "$tree/$path")" && block file "$path" >"$tree/$path" && echo "$name $path" ;;
  append) block append "$path" >>"$tree/$path" && echo "$name $path" ;;
  patch) block patch "$path" >"$work/$path.patch" && apply "$name" "$work/$path.patch" ;;
  apply) apply "$name" "$top_srcdir/$path" ;;
  copy) cp -r "$tree/$path"/* "$tree/" && (cd "$tree/$path" && find . -type f | sed "s|^\./|$name |") ;;
  esac || echo "$name: $kind $path was not applied" >&2
done <"$work/changes" >"$work/touched" 2>"$work/words"
none "the examples were applied" <"$work/words"
find "$tree" -name '*.rej' | none "no part of a diff was left out"

# ---- What an example touches -----------------------------------------------------------------------------------------

count() { grep -c "^$1 " "$work/touched"; }
said() { awk -v mark="<!-- example: $1 -->" '$0 == mark { on = 1 } on && /^Files touched: / { print; exit }' "$page"; }
touches() { # touches EXAMPLE MOST
  [ "$(count "$1")" -le "$2" ] && [ "$(said "$1")" = "Files touched: $(count "$1")." ]
  result $? "$1: $(count "$1") files, at most $2, as the page says"
}
for example in policy kernel predicate hash workload field; do touches $example 2; done
touches scratch 3
touches shared 3
touches operation 12
lists=$top_srcdir/examples/extend/design.patch lines=$(grep -c '^+[^+]' "$lists") port=$(cat "$top_srcdir"/examples/design/judge/*/* | wc -l)
own=$(find "$top_srcdir/examples/design" -type f | wc -l) others=$(grep -c '^+++ ' "$lists")
[ "$lines" -le 6 ] && [ "$port" -le 300 ] && ! grep -q '^-[^-]' "$lists" &&
  [ "$(said design)" = "Files touched: $own of its own, and $lines lines in $others others." ] &&
  grep -q "judge/linear/port.c. | $port lines" "$page"
result $? "design: $own files of its own, $lines lines in $others others, at most 6; the port to the judge $port lines, at most 300"

# ---- The build -------------------------------------------------------------------------------------------------------

compiler=${CC:-cc}
[[ $compiler == *ccache* ]] || ! command -v ccache >/dev/null || compiler="ccache $compiler"
level=-O1
[[ " ${CFLAGS:-} " != *" -O0 "* ]] || level=-O0
unset MAKEFLAGS MAKELEVEL MFLAGS
mkdir "$work/build"
cd "$work/build" || exit 1
build() { make -j2 V=0 CFLAGS="$level -Werror" ${HD_SANITIZE:+HD_SANITIZE="$HD_SANITIZE"} "$@"; }
programs=(heddle tests/t_policies tests/t_agree tests/t_kernels tests/t_hashes examples/policy)

started=$SECONDS
{ ../tree/configure --without-cuda --disable-shared CC="$compiler" CFLAGS="$level" CPPFLAGS=-DHKV_MORE=papers/hkv/nodigest.h && build "${programs[@]}"; } >"$work/words" 2>&1
result $? "the library, the command and the tests build with all examples" "$work/words"
echo "# built in $((SECONDS - started)) s"
[ -x heddle ] || finish

# ---- Tests that walk the registries ----------------------------------------------------------------------------------

claims() { HEDDLE_TEST_ONLY=flags tests/t_policies; }
(claims >"$work/words" 2>&1 && grep -q '^ok 1 - flags' "$work/words")
result $? "the policy's flags hold, and those it does not claim do not" "$work/words"
(HEDDLE_TEST_ONLY=one_to_one tests/t_hashes >"$work/words" 2>&1 && grep -q '^ok 1 - one_to_one' "$work/words")
result $? "the hash function's flags hold" "$work/words"
# A change of the policy's flags alone: only the test is compiled again.
(cp -p ../tree/policies/twice.h "$work/" &&
  sed -i 's/HD_MONOTONE | HD_ORDER_FREE)/HD_MONOTONE | HD_ORDER_FREE | HD_SCORES_USED)/' ../tree/policies/twice.h &&
  build -o libheddle_all.la -o libheddle_work.la -o libtesting.la tests/t_policies && ! claims) >"$work/words" 2>&1 &&
  grep -q 'SCORES_USED is wrong' "$work/words"
result $? "a claim that does not hold is found" "$work/words"
mv "$work/twice.h" ../tree/policies/

examples/policy twice >"$work/words" 2>&1 && grep -qE '^twice +[0-9]+$' "$work/words"
result $? "examples/policy runs the new policy" "$work/words"

# A share of the tests that walk the registry of kernels.
of() { HEDDLE_TEST_ONLY=$1 HEDDLE_TEST_SCALE=1/${3:-8} tests/"$2"; }
(of 'pair_*' t_agree >"$work/words" 2>&1 && grep -q '^ok 1 - pair_agrees' "$work/words")
result $? "t_agree holds the new kernel against the reference" "$work/words"
(of 'pair_*' t_kernels >"$work/words" 2>&1 && grep -q '^ok [0-9]* - pair_conserves' "$work/words")
result $? "t_kernels runs it" "$work/words"
(of 'nodigest_*' t_agree >"$work/words" 2>&1 && grep -q '^ok 1 - nodigest_agrees' "$work/words")
result $? "t_agree holds the kernel without digests against the reference" "$work/words"
of '*_sectors' t_kernels 2>&1 | sed -n 's/^# \(.*\): sectors per key/\1/p' | grep -v '^nodigest' >"$work/got"
block output sectors | diff - "$work/got" >"$work/words" && [ -s "$work/got" ]
result $? "it asks for as many sectors as the page shows" "$work/words"

# ---- The page's commands ---------------------------------------------------------------------------------------------

sed -n '/^```console$/,/^```$/s/^\$ heddle //p' "$page" >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 30 ]
result $? "the page has commands"
heddle=$PWD/heddle
mkdir "$work/here" # commands write files
for file in "${HEDDLE_DATA:-$work/none}"/*; do [ ! -e "$file" ] || ln -s "$file" "$work/here/"; done
# as many columns as the page shows, blanks squeezed
columns() { sed 's/miss ratio/miss_ratio/' "$1" | awk -v n="$2" '{ for (i = 1; i <= n; i++) printf "%s ", $i; print "" }'; }
while read -r line; do
  declare -a argument="($line)" # the page's quotes are a shell's
  if [[ "${argument[*]}" == *cloudPhysicsIO* ]] && [ ! -r "${HEDDLE_DATA:-$work}/cloudPhysicsIO.oracleGeneral.zst" ]; then
    skip "heddle ${argument[*]}" "the trace is not in HEDDLE_DATA"
    continue
  fi
  (cd "$work/here" && "$heddle" "${argument[@]}") >"$work/words" 2>&1
  code=$?
  case $line in # what it must say besides
  diff*) grep -q '^same  *yes$' "$work/words" ;;
  sched*) grep -q '^bugs  *0$' "$work/words" ;;
  'explain hkv.find'*) grep -q ' 0-1  *reads  *digest' "$work/words" ;;
  'explain hkv.erase'*) grep -q ' 0  *counts  *erased .* decide\.h' "$work/words" && grep -q ' writes  *erased .* erased\.h' "$work/words" ;;
  'explain linear'*) grep -q ' takes effect  *updated' "$work/words" ;;
  bench*) grep -qE '^hkv.find.pair.* [kM]/s' "$work/words" ;;
  *multiple=16*) grep -q '128 entries' "$work/words" && grep -q 'all truthful' "$work/words" ;;
  *policy=twice*) grep -q "all truthful; the policy's scores were taken at its word" "$work/words" ;;
  *--judge*) grep -q 'all truthful' "$work/words" ;;
  'run --kernels'*) grep -q 'every one agrees with the reference' "$work/words" ;;
  'list policies') grep -q '^twice ' "$work/words" ;;
  'list kernels') [ "$(grep -c '^pair .*host, ' "$work/words")" = 3 ] ;;
  'list predicates') grep -q '^key_modulo ' "$work/words" ;;
  'list hashes') grep -q '^fibonacci ' "$work/words" ;;
  'list workloads') grep -q '^cycle ' "$work/words" ;;
  'list parameters') grep -q 'multiple' "$work/words" ;;
  'list operations') grep -q '^insert_new ' "$work/words" ;;
  'list designs') grep -q '^linear ' "$work/words" ;;
  esac || code=1
  result $code "heddle $line" "$work/words"
  block output "heddle ${argument[*]}" >"$work/page"
  [ -s "$work/page" ] || continue
  wide=$(head -n 1 "$work/page" | sed 's/miss ratio/miss_ratio/' | wc -w)
  sed -n '/^policy /,$p' "$work/words" >"$work/screen"
  diff <(columns "$work/page" "$wide") <(columns "$work/screen" "$wide") >"$work/words"
  result $? "... prints what the page shows" "$work/words"
done <"$work/commands"

# ---- What is spoiled is found ----------------------------------------------------------------------------------------

spoil() { # spoil FILE SED-FILE: the file as the page has it, edited
  sed -f "$2" "$work/whole" >"$1" && ! cmp -s "$work/whole" "$1"
}
numbers() { sed -E 's/[0-9]+/N/g' "$@"; }
cp -p ../tree/gpu/hkv/pair.h "$work/whole"
for n in 1 2; do
  block broken "$n" >"$work/edit"
  (spoil ../tree/gpu/hkv/pair.h "$work/edit" && build tests/t_agree && ! of 'pair_*' t_agree) >"$work/words" 2>&1 &&
    numbers "$work/words" | grep -qF "$(block says "$n" | numbers)" && grep -qE '; seed [0-9]+;' "$work/words"
  result $? "the kernel spoiled in the page's way $n is found out: a sentence and a seed" "$work/words"
done

# The fault of judge/museum/bugs/no_locked_check.bug, which shows in some schedules only. heddle sched finds it, finds it at
# once from its seed, and makes it as short; and the command that it prints tells the same sentence and the same steps.
cat >"$work/edit" <<'EDIT'
s/while (!hkv_try/if (family == HKV_UPDATE \&\& o.outcome == HKV_UNDECIDED) {\
            hkv_search(t, a, family, \&o, hkv_digests_of(a, o.first), hkv_digests_of(a, o.second));\
            o.at_first.busy = o.at_second.busy = false;\
        }\
        &/
EDIT
finds() { # finds TO WORD...
  local to=$1
  shift
  ./heddle "$@" >"$work/$to"
  [ $? = 1 ]
}
fact() { sed -n "s/^$1  *//p" "$work/$2" | grep .; }
of_one() { grep -vE '^(schedules|distinct|interleavings|time|rate) ' "$work/$1"; }
shown_again() {
  finds found sched 'hkv.assign.pair batch=3x1' && fact wrong found && fact schedule found || return 1
  finds seed sched 'hkv.assign.pair batch=3x1' --seed "$(fact seed found)" --schedules 1 && diff <(of_one found) <(of_one seed) || return 1
  local again=()
  eval "again=($(fact again found))" # its quotes are a shell's
  finds again "${again[@]:1}" && diff <(of_one found) <(of_one again)
}
block broken linear >"$work/edit.linear"
(spoil ../tree/gpu/hkv/pair.h "$work/edit" && cp -p ../tree/gpu/linear/thread.h "$work/whole" &&
  spoil ../tree/gpu/linear/thread.h "$work/edit.linear" && build heddle && shown_again) >"$work/words" 2>&1
result $? "what heddle sched finds it shows again, from the seed and from the schedule" "$work/words"
[ -z "${HEDDLE_SAME:-}" ] || grep -vE '^(time|rate) ' "$work/found" >"$HEDDLE_SAME/spoiled"
line=$(grep '^sched linear' "$work/commands" | head -n 1)
declare -a argument="($line)"
finds words "${argument[@]}" && fact wrong words | grep -qF "$(block says linear)"
result $? "the design's spoiled kernel is found by the page's command" "$work/words"

finish
