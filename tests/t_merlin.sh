# SPDX-License-Identifier: Apache-2.0
#
# t_merlin.sh - HierarchicalKV's interface (include/heddle/merlin_hashtable.cuh): merlin.cu compiles as a user's program,
# without a warning, and links with the library. On a machine with a device it also runs: its own cases are in the log.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
nvcc=$(sed -n 's/^NVCC = //p' "$top_builddir/Makefile")
[ -n "$nvcc" ] || { echo "1..0 # SKIP no CUDA compiler"; exit 77; }

compile() {
  "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings --compiler-options=-Wall,-Wextra -I"$top_srcdir/include/heddle" \
    -I"$top_srcdir/include" -c -o "$work/merlin.o" "$top_srcdir/tests/merlin.cu"
}
try "it compiles" compile

# The libraries of a user's program: libheddle and the CUDA runtime. Plain g++ links, as CMake does.
read -ra cuda_libs < <(sed -n 's/^CUDA_LIBS = //p' "$top_builddir/Makefile")
program=$top_builddir/tests/merlin
link() {
  ${CXX:-g++} -o "$program" "$work/merlin.o" -L"$top_builddir/.libs" -Wl,-rpath,"$top_builddir/.libs" -lheddle "${cuda_libs[@]}"
}
try "it links" link
"$program" >"$work/said" 2>&1
code=$?
sed 's/^/# /' "$work/said"
if [ $code = 77 ]; then skip "every method, against a map" "no device"
else
  agrees() { [ $code = 0 ] && grep -q '^1\.\.[1-9]' "$work/said"; }
  try "every method, against a map" agrees
fi
finish
