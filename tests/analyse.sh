#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# analyse.sh NAME - runs one static analyser. It prints the reports and then "N files, N reports". Exit code 0: no
# report; 1: there are reports; 77: the tool is missing. No report is suppressed. This file says which sources and
# checks are left out, and why.
#
#   cppcheck     the C sources of the library, the judge and the workloads, but gpu/hkv/host.c: kernel code sets the
#                fields of a struct one by one, and which fields of an item are valid depends on others; cppcheck
#                reports these as uninitialised (simt/ checks them at run time)
#   clang-tidy   the same sources; bugprone-*, clang-analyzer-* and misc-redundant-expression, without the checks below
#   fanalyzer    gcc -fanalyzer on the same sources
#   and shellcheck: all scripts; warnings and errors
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 2
name=${1:-}
sources() { printf '%s\n' base/*.c lib/*.c ref/*.c ref/*/*.c gpu/*/*.c concurrency/*.c simt/*.c judge/*.c judge/*/*.c workload/*.c | grep -v '^gpu/hkv/host\.c$'; }
flags=(-std=c11 -D_GNU_SOURCE -I. -Iinclude)

# Checks of style, and checks that C code cannot satisfy: parameters that could be swapped; reserved names (__tsan_*);
# chained comparisons of enums; snprintf and memcpy, for which glibc has no _s variant; switches with equal branches on
# purpose; products that fit; padding in structs whose members are in reading order.
checks='-*,bugprone-*,clang-analyzer-*,misc-redundant-expression'
for not in bugprone-easily-swappable-parameters bugprone-reserved-identifier bugprone-branch-clone bugprone-macro-parentheses \
  bugprone-implicit-widening-of-multiplication-result bugprone-narrowing-conversions bugprone-assignment-in-if-condition clang-analyzer-optin.performance.Padding \
  clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling; do
  checks="$checks,-$not"
done

reports() {
  case $name in
  cppcheck)
    # The target machine; without it cppcheck tries all others, too.
    sources | xargs cppcheck -q --std=c11 --enable=warning,portability "${flags[@]:1}" \
      -D__x86_64__=1 -D__BYTE_ORDER__=1234 -D__ORDER_LITTLE_ENDIAN__=1234 --template='{file}:{line}: {severity}: {message} [{id}]' 2>&1 |
      grep -E '^[^ ]+:[0-9]+: (error|warning|portability|performance):'
    ;;
  clang-tidy)
    sources | while read -r f; do clang-tidy --quiet -checks="$checks" "$f" -- "${flags[@]}" 2>/dev/null; done | grep -E ': (warning|error): ' | sort -u
    ;;
  fanalyzer)
    sources | while read -r f; do ${GCC:-gcc} "${flags[@]}" -O1 -fanalyzer -c -o /dev/null "$f" 2>&1; done | grep -E '\[-Wanalyzer|: error: '
    ;;
  shellcheck)
    scripts | xargs shellcheck -s bash -x --severity=warning --format=gcc
    ;;
  esac
}
scripts() { find . -name '.?*' ! -name .ci -prune -o -type f \( -name '*.sh' -o -name check -o -name try -o -name tap-run -o -name nvcc-wrap -o -path './.ci/run' \) ! -name 'ltmain.sh' \
  ! -name 'tap-driver.sh' -print; }

case $name in
cppcheck | clang-tidy | shellcheck) tool=$name ;;
fanalyzer) tool=${GCC:-gcc} ;;
*) echo "analyse.sh: there is no analyser '$name'; there are: cppcheck clang-tidy fanalyzer shellcheck" >&2; exit 2 ;;
esac
command -v "$tool" >/dev/null || { echo "$tool is missing"; exit 77; }
found=$(reports)
n=$(grep -c . <<<"$found")
if [ "$name" = shellcheck ]; then files=$(scripts | wc -l); else files=$(sources | wc -l); fi
[ -z "$found" ] || printf '%s\n' "$found"
echo "$files files, $n reports"
[ "$n" = 0 ]
