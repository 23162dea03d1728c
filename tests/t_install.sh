# SPDX-License-Identifier: Apache-2.0
#
# t_install.sh - what `make install` installs is complete: outside projects in C, C++11 and C++17 find it by pkg-config, and one
# by CMake; they build without a warning and run. `make uninstall` leaves no file behind.
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
if [ -n "$command" ]; then try "the installed command runs" "$command" --version; else skip "the installed command runs" "it is not built"; fi

words=$work/words
manual() { # it is there, or the last line says why not
  if command -v help2man >/dev/null; then find "$root" -path '*/man1/heddle.1' | grep -q . && man=$(find "$root" -path '*/man1/heddle.1') && grep -q '^\.TH' "$man"
  else "${MAKE:-make}" -C "$top_builddir" install DESTDIR="$root" 2>&1 | grep -q 'no manual page: it needs help2man'; fi
}
if [ -n "$command" ]; then try "the manual page is installed, or its absence is told" manual; fi

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
    c = hd_config_of("gfsl");
    if (hd_open(&c, &t) != HD_EINVAL || !strstr(hd_why(), "papers/ovs/gfsl")) return puts(hd_why()), 5;
    return 0;
}
END
cat >"$work/typed.cpp" <<'END'
#include <heddle.hpp>
#include <cstring>
#include <vector>
int main()
{
    hd_config c = hd_config_default();
    c.capacity = 1000;
    heddle::table<float[4]> t(c);
    std::vector<std::uint64_t> keys = { 1, 2 };
    std::vector<float> rows(8, 1.5f), found(8);
    t.upsert(keys, rows);
    t.find(keys, found);
    try {
        t.find(keys, heddle::span(found.data(), 7));
    } catch (const heddle::error &e) {
        return found == rows && e.status() == HD_EINVAL ? 0 : 2;
    }
    return 3;
}
END
strict='-Wall -Wextra -pedantic -Werror'
have_pkg_config() { command -v "$pkg_config" >/dev/null; }
build() { # build COMPILER LANGUAGE STANDARD SOURCE
  local compiler=$1 language=$2 standard=$3 source=$4
  # shellcheck disable=SC2046,SC2086 # lists of flags
  $compiler $CFLAGS $HD_SANITIZE -x "$language" -std="$standard" $strict "$work/$source" -x none \
    -o "$work/user_$standard" $($pkg_config --cflags --libs heddle)
}
outside() { # outside COMPILER LANGUAGE STANDARD SOURCE: builds and runs it
  if have_pkg_config; then
    try "pkg-config: a program in $3 builds" build "$@"
    try "and runs" "$work/user_$3"
  else
    skip "pkg-config: a program in $3" "pkg-config is missing"
  fi
}
# shellcheck disable=SC2001 # gcc-12 -> g++-12, clang-14 -> clang++-14
cxx=${CXX:-$(sed 's/clang/clang++/; s/gcc/g++/; s/^cc\b/c++/' <<<"$CC")}
have_cxx() { echo '#include <optional>' | $cxx -x c++ -std=c++17 -fsyntax-only - 2>/dev/null; }
outside "$CC" c c11 user.c

# libheddle-sim has the same interface, and backend host besides.
sed 's/c.capacity = 1000;/&\n    c.backend = "host";/' "$work/user.c" >"$work/sim.c"
build_sim() {
  # shellcheck disable=SC2046,SC2086
  $CC $CFLAGS $HD_SANITIZE -std=c11 $strict "$work/sim.c" -o "$work/user_sim" $($pkg_config --cflags --libs heddle-sim)
}
if have_pkg_config; then
  try "pkg-config: a program with libheddle-sim builds" build_sim
  try "and its table is on backend host" "$work/user_sim"
else
  skip "pkg-config: a program with libheddle-sim" "pkg-config is missing"
fi
if have_cxx; then
  outside "$cxx" c++ c++11 user.c
  outside "$cxx" c++ c++17 typed.cpp
else
  skip "programs in C++" "$cxx is missing"
fi

# A CMake project in C and C++17, with a version that fits.
mkdir "$work/project"
cp "$work"/{user.c,sim.c,typed.cpp} "$work/project/"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.10)
project(user C CXX)
find_package(heddle 0.1 REQUIRED CONFIG)
add_compile_options(-Wall -Wextra -pedantic -Werror)
set(CMAKE_CXX_STANDARD 17)
add_executable(user user.c)
add_executable(typed typed.cpp)
add_executable(sim sim.c)
target_link_libraries(user heddle::heddle)
target_link_libraries(typed heddle::heddle)
target_link_libraries(sim heddle::sim)
END
config=$(find "$root" -name heddle-config.cmake)
configure_project() {
  # CC may be two words, as in 'ccache gcc': CMake takes these as a list.
  cmake -S "$work/project" -B "$work/project/build" -Dheddle_DIR="${config%/*}" \
    -DCMAKE_C_FLAGS="$CFLAGS $HD_SANITIZE" -DCMAKE_CXX_FLAGS="$CFLAGS $HD_SANITIZE"
}
of_another_version() {
  sed 's/heddle 0.1 /heddle 0.2 /' "$work/project/CMakeLists.txt" >"$work/other/CMakeLists.txt"
  ! cmake -S "$work/other" -B "$work/other/build" -Dheddle_DIR="${config%/*}"
}
if command -v cmake >/dev/null && have_cxx; then
  export CC CXX=$cxx
  try "CMake: find_package(heddle)" configure_project
  try "its programs build" cmake --build "$work/project/build"
  try "the C program runs" "$work/project/build/user"
  try "the C++ program runs" "$work/project/build/typed"
  try "the program with heddle::sim runs" "$work/project/build/sim"
  mkdir "$work/other" && cp "$work"/{user.c,sim.c,typed.cpp} "$work/other/"
  try "a version that does not fit is refused" of_another_version
else
  skip "a CMake project" "cmake or a C++ compiler is missing"
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
