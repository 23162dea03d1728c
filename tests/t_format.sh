# SPDX-License-Identifier: Apache-2.0
#
# t_format.sh - clang-format, in the version that .clang-format names, changes no source of C, C++ and CUDA, and no line
# is longer than 120 columns. A table that is aligned by hand stands between "clang-format off" and "clang-format on".
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$top_srcdir" || exit 1

# The sources of the tree: not what a build made, nor what was put into the tree from elsewhere.
mapfile -t sources < <(
  for folder in */; do
    case $folder in shared/ | dialect/ | build*/ | _*/) continue ;; esac # make distcheck builds in _build
    [ -e "$folder/config.status" ] || find "$folder" -type f \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' \) \
      ! -path 'judge/museum/altered/*' ! -path 'workload/rows.inc' ! -path 'bench/cases.inc' ! -path 'bench/notes.inc' ! -path 'learn/puzzles/texts.inc' ! -path '*/.*'
  done)

if [ ${#sources[@]} -gt 300 ]; then pass "there are sources"; else fail "there are sources" "${#sources[@]}"; fi
awk 'FNR == 1 { aligned = 0 }
     /clang-format off/ { aligned = 1 }
     length($0) > 120 && !aligned { print FILENAME ":" FNR ": " length($0) " columns" }
     /clang-format on/ { aligned = 0 }' "${sources[@]}" | none "no line is longer than 120 columns"

major=$(sed -n 's/^# .* clang-format: \([0-9]*\)\.$/\1/p' .clang-format)
for name in "clang-format-$major" clang-format; do
  command -v "$name" >/dev/null && "$name" --version | grep -q "version $major\." && break
  name=
done
if [ -z "$name" ]; then skip "clang-format changes nothing" "clang-format $major is not here"
else
  printf '%s\n' "${sources[@]}" | grep -v '\.inc$' | xargs "$name" -n 2>&1 | grep 'warning:' | none "clang-format changes nothing"
fi
finish
