# SPDX-License-Identifier: Apache-2.0
#
# t_install.sh - what `make install` puts in place is whole: a C and a C++ program find it by pkg-config, build against it
# without a warning, run, and `make uninstall` leaves no file behind.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS
pkg_config=${PKG_CONFIG:-pkg-config}
root=$work/root

try "make install" "${MAKE:-make}" -C "$top_builddir" install DESTDIR="$root"
pc=$(find "$root" -name heddle.pc)
library=$(find "$root" -name 'libheddle.so.0' -o -name 'libheddle.0.dylib')
command=$(find "$root" -path '*/bin/heddle')
export PKG_CONFIG_PATH=${pc%/*}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} PKG_CONFIG_SYSROOT_DIR=$root
export LD_LIBRARY_PATH=${library%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

soname() { readelf -d "$library" | grep -F 'Library soname: [libheddle.so.0]'; }
if command -v readelf >/dev/null; then try "the library's soname is libheddle.so.0" soname; fi
try "the installed command runs" "$command" --version

# The same program is C and C++: it opens a table, puts a key in, finds it, and meets a refusal that explains itself.
cat >"$work/user.c" <<'END'
#include <heddle.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    uint64_t key = 42, value = 4711, back = 0;
    uint8_t fate = 255;
    hd_batch b;
    c.capacity = 1000;
    if (hd_open(&c, &t)) return puts(hd_why()), 1;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = 1;
    b.key = &key;
    b.value = &value;
    b.outcome = &fate;
    if (hd_run(t, &b) || fate != HD_INSERTED) return puts(hd_why()), 2;
    b.op = HD_OP_FIND;
    b.value = NULL;
    b.value_out = &back;
    if (hd_run(t, &b) || fate != HD_HIT || back != value) return puts(hd_why()), 3;
    hd_close(t);
    c.slots = 1;
    if (hd_open(&c, &t) != HD_EINVAL || !strstr(hd_why(), "slots")) return puts(hd_why()), 4;
    return 0;
}
END
build() { # build COMPILER LANGUAGE STANDARD
  local compiler=$1 language=$2 standard=$3
  # shellcheck disable=SC2046,SC2086 # lists of flags
  $compiler $CFLAGS $HD_SANITIZE -x "$language" -std="$standard" -Wall -Wextra -Wpedantic -Werror "$work/user.c" -x none \
    -o "$work/user_$language" $($pkg_config --cflags --libs heddle)
}
# shellcheck disable=SC2001 # gcc-12 -> g++-12, clang-14 -> clang++-14
cxx=${CXX:-$(sed 's/clang/clang++/; s/gcc/g++/; s/^cc\b/c++/' <<<"$CC")}
try "a C program builds against it" build "$CC" c c11
try "and runs" "$work/user_c"
if command -v "${cxx%% *}" >/dev/null && echo 'int main() {}' | $cxx -x c++ -o "$work/empty" - 2>/dev/null; then
  try "a C++ program builds against it" build "$cxx" c++ c++11
  try "and runs" "$work/user_c++"
else
  skip "a C++ program builds against it" "$cxx is missing"
fi

all_pages() { # of doc/, beside one another
  local page missing=0
  for page in "$top_srcdir"/doc/*.md; do
    [ -n "$(find "$root" -path "*/doc/heddle/doc/${page##*/}")" ] || { echo "doc/${page##*/} is not installed"; missing=1; }
  done
  return $missing
}
try "every page of doc/ is installed" all_pages

try "make uninstall" "${MAKE:-make}" -C "$top_builddir" uninstall DESTDIR="$root"
nothing_left() { local left; left=$(find "$root" ! -type d); echo "$left"; [ -z "$left" ]; }
try "and nothing is left" nothing_left

finish
