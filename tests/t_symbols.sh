# SPDX-License-Identifier: Apache-2.0
#
# t_symbols.sh - every kernel of the libraries can be found by its name. For each kernel symbol that nm lists, local ones
# and the host stubs of CUDA kernels too, a search for the whole word finds its definition and its entry in a table.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$top_srcdir" || exit 1
if ! command -v nm >/dev/null; then
  skip "kernels are found by name" "nm is missing"
  finish
fi

# search NAME: lines of the sources that have the word. A release has no repository: grep reads its files.
if git rev-parse --is-inside-work-tree >/dev/null 2>&1 && [ -n "$(git ls-files gpu)" ]; then
  search() { git grep -w -e "$1" -- '*.h' '*.c' '*.cu' '*.inc'; }
else
  search() { grep -rw --include='*.h' --include='*.c' --include='*.cu' --include='*.inc' -e "$1" gpu papers/ovs/gfsl; }
fi

# The functions of the libraries whose names say that they are kernels of a design: hkv_kernel_..., hkv_special_.... A CUDA
# kernel has a host stub of its name.
libraries=()
for f in "$top_builddir"/{gpu/*,papers/ovs/gfsl/gpu}/{,.libs/}*.o "$top_builddir"/.libs/libheddle{,-sim}.{so,a}; do
  [ -e "$f" ] && libraries+=("$f")
done
designs=$(basename -a gpu/*/ papers/ovs/gfsl | paste -sd '|')
nm -C "${libraries[@]}" 2>/dev/null | sed -nE 's/^[0-9a-f]+ [TtWw] ([A-Za-z_0-9]+).*/\1/p' |
  grep -E "^($designs)_(kernel|special)_" | sort -u >"$work/kernels"

# The names that the sources give to kernels.
cat {gpu/*,papers/ovs/gfsl/gpu}/*.{h,c,cu,inc} | sed -E 's/^[A-Z]+(_RANGE)?_KERNEL\([A-Z]+_NUMBER_[a-z_]+, /SIMT_ENTRY(/' | grep -vE '^ *\*|#define' | grep -oE '(SIMT_KERNEL|SIMT_ENTRY)\([a-z0-9_]+' | sed 's/.*(//' | sort -u >"$work/entries"
comm -13 "$work/kernels" "$work/entries" | none "nm lists every kernel that the sources define for the simulator"
result() { if [ "$1" = 0 ]; then pass "$2"; else fail "$2"; fi; }
[ "$(wc -l <"$work/entries")" -ge 40 ]
result $? "the sources define 40 kernels or more ($(wc -l <"$work/entries"))"
[ "$(wc -l <"$work/kernels")" -ge "$(wc -l <"$work/entries")" ]
result $? "nm lists as many ($(wc -l <"$work/kernels"))"

# A definition is the first argument of a macro that makes kernels, or a __global__ function. An entry of a table is the name
# as a value in braces: after "{" or "," or "=", before "," or "}". A row of kernels.inc is both.
row='(^|:)[A-Z_]+_KERNEL\([A-Z]+_NUMBER_[a-z_]+, '
defined() { grep -E ":(static )?(SIMT_KERNEL|SIMT_ENTRY|[A-Z]+_SPECIAL(_QUEUES)?)\\($1,|__global__ .*\\b$1\\(|$row$1," "$work/lines" | grep -q .; }
listed() {
  ! grep -qE "$row$1," "$work/lines" || return 0
  sed 's/^[^:]*://' "$work/lines" | grep -vE '^(static )?[A-Z_]+\(' | grep -qE "(^|[{,=]) *$1 *([,}]|\$)"
}
found() { # found NAME: prints what is missing
  search "$1" >"$work/lines"
  defined "$1" || echo "$1: no definition"
  listed "$1" || echo "$1: no entry in a table"
}
while read -r name; do found "$name"; done <"$work/kernels" >"$work/missing"
none "every kernel's name finds its definition and its entry in a table" <"$work/missing"

# The search can fail: a name in no file, and one that is part of a longer name.
[ "$(found hkv_kernel_absent | wc -l)" = 2 ] && [ "$(found hkv_kernel_tlpv1 | wc -l)" = 2 ]
result $? "a name that is pasted together is not found"

finish
