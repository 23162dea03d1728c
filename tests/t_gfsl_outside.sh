# SPDX-License-Identifier: Apache-2.0
#
# t_gfsl_outside.sh - a design outside the tree: papers/ovs/gfsl, copied, is built against what `make install-dev`
# installs. Its program has every verb; the judge finds a bug in a kernel; the suites of every design pass.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS
pkg_config=${PKG_CONFIG:-pkg-config} make=${MAKE:-make}
for tool in "${CC%% *}" "$pkg_config" "$make"; do
  command -v "$tool" >/dev/null || { echo "1..0 # SKIP $tool is missing"; exit 77; }
done

root=$work/root
try "make install-dev" "$make" -C "$top_builddir" install-dev DESTDIR="$root"
pc=$(find "$root" -name heddle-dev.pc)
export PKG_CONFIG_PATH=${pc%/*}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} PKG_CONFIG_SYSROOT_DIR=$root
cp -r "$top_srcdir/papers/ovs/gfsl" "$work/gfsl" && cd "$work/gfsl" || exit 1
build() { "$make" CC="$CC" CFLAGS="${CFLAGS:-} $HD_SANITIZE" PKG_CONFIG="$pkg_config" B="$work/build" "$@"; }
gfsl=$work/build/heddle-gfsl

try "gfsl is built outside the tree" build
same() { # same WORD...: both commands say the same, but for times
  "$HEDDLE" "$@" >"$work/heddle" && "$gfsl" "$@" >"$work/outside" &&
    diff <(grep -vE '^ *"?(time|rate|requests_per_s)' "$work/heddle") <(grep -vE '^ *"?(time|rate|requests_per_s)' "$work/outside")
}
for kind in designs kernels parameters; do try "it lists the $kind of the command" same list $kind; done
try "a run is judged" same run --judge gfsl.mix.ref buckets=40 slots=6 batch=50x200 keys=uniform:150 seed=3 --json
try "schedules of a kernel are judged" same sched gfsl.mixed.chunk buckets=12 slots=6 batch=24x1 keys=uniform:50 --schedules 50
try "the fuzzers find nothing" "$gfsl" fuzz kernels --time 2
export HEDDLE_TEST_SCALE=1/16
try "the suites pass" build check

# A bug of the museum: the text between <<< and === becomes that between === and >>>.
bug=$(cat bugs/gfsl_split_unsorted.bug)
new=${bug#*$'\n===\n'} file=$(sed -n 's,^in papers/ovs/gfsl/,,p' bugs/gfsl_split_unsorted.bug)
old=${bug#*$'\n<<<\n'} new=${new%$'\n>>>'*} text=$(cat "$file")
printf '%s\n' "${text/"${old%$'\n===\n'*}"/"${new/!BUG/false}"}" >"$file"
try "the bug is in its file" grep -q 'false && loose' "$file"
try "the broken kernel is built" build
"$gfsl" sched gfsl.mixed.chunk buckets=12 slots=6 batch=24x1 keys=uniform:50 unsorted=1 --schedules 200 >/dev/null 2>&1
if [ $? = 1 ]; then pass "the judge finds the bug"; else fail "the judge finds the bug"; fi
finish
