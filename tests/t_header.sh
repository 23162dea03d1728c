# SPDX-License-Identifier: Apache-2.0
#
# t_header.sh - heddle.h compiles by itself and without warnings in every supported version of C and C++; and every
# header of the tree compiles by itself.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
root=$top_srcdir

printf '%s\n' '#include "heddle.h"' '#include "heddle.h"' 'hd_status user(hd_table **t);' \
  'hd_status user(hd_table **t) { hd_config c = hd_config_default(); c.slots = HD_SLOTS_MAX; return hd_open(&c, t); }' >"$work/user.c"
cp "$work/user.c" "$work/user.cc"

strict='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror -fsyntax-only'
for cc in "${CC:-cc}" clang; do
  command -v "${cc%% *}" >/dev/null || continue
  # shellcheck disable=SC2086 # a compiler may be two words
  for std in c99 c11 c17; do try "$cc -std=$std" $cc -std=$std $strict -I"$root/include" "$work/user.c"; done
done
for cxx in "${CXX:-c++}" clang++; do
  echo 'int main() {}' | $cxx -x c++ -fsyntax-only - 2>/dev/null || continue
  # shellcheck disable=SC2086 # a compiler may be two words
  for std in c++11 c++17 c++20; do try "$cxx -std=$std" $cxx -std=$std $strict -Wold-style-cast -I"$root/include" "$work/user.cc"; done
  for std in c++17 c++20; do
    # shellcheck disable=SC2086
    try "$cxx -std=$std, heddle.hpp" $cxx -std=$std $strict -Wold-style-cast -I"$root" -I"$root/include" "$root/tests/t_heddle_hpp.cpp"
  done
done

# Rows (policies, predicates) are read by their registries and not by themselves.
for h in "$root"/lib/*.h "$root"/ref/*.h "$root"/judge/*.h "$root"/workload/*.h "$root"/concurrency/*.h "$root"/policies/policy.h "$root"/policies/predicates/predicate.h "$root"/policies/hashes/{hashes,crc,mix32}.h; do
  case $h in */keys_*.h) continue ;; esac
  name=${h#"$root"/}
  printf '#include "%s"\n#include "%s"\ntypedef int something;\n' "$name" "$name" >"$work/alone.c"
  try "$name stands alone" ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused -fsyntax-only -I"$root" -I"$root/include" "$work/alone.c"
done
finish
