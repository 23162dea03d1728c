# SPDX-License-Identifier: Apache-2.0
#
# t_cuda_headers.sh - the headers for device code: HierarchicalKV's interface (include/heddle/merlin_hashtable.cuh) and
# functors (include/heddle_view.cuh). merlin.cu and view.cu compile as a user's program, without a warning, and link with
# the library. On a machine with a device they also run: their own cases are in the log.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
nvcc=$(sed -n 's/^NVCC = //p' "$top_builddir/Makefile")
[ -n "$nvcc" ] || { echo "1..0 # SKIP no CUDA compiler"; exit 77; }

compile() {
  "$nvcc" -std=c++17 -arch=sm_90 --extended-lambda -Werror all-warnings --compiler-options=-Wall,-Wextra \
    -I"$top_srcdir/include/heddle" -I"$top_srcdir/include" -c -o "$work/$1.o" "$top_srcdir/tests/$1.cu"
}

# The libraries of a user's program: libheddle and the CUDA runtime. Plain g++ links, as CMake does.
read -ra cuda_libs < <(sed -n 's/^CUDA_LIBS = //p' "$top_builddir/Makefile")
link() {
  ${CXX:-g++} -o "$top_builddir/tests/$1" "$work/$1.o" -L"$top_builddir/.libs" -Wl,-rpath,"$top_builddir/.libs" -lheddle "${cuda_libs[@]}"
}

agrees() { [ "$code" = 0 ] && grep -q '^1\.\.[1-9]\|^ok$' "$work/said"; }

for program in merlin view; do
  try "$program.cu compiles" compile "$program"
  try "$program.cu links" link "$program"
  "$top_builddir/tests/$program" >"$work/said" 2>&1
  code=$?
  sed 's/^/# /' "$work/said"
  if [ $code = 77 ]; then skip "$program.cu: what it does is right" "no device"
  else
    try "$program.cu: what it does is right" agrees
  fi
done
finish
