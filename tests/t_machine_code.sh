# SPDX-License-Identifier: Apache-2.0
#
# t_machine_code.sh - the dialect costs nothing on a GPU: for sm_90, kernels written in it have the machine code of the
# same kernels written in CUDA (machine_code.cu). And the kernels of the library stay within machine_code.budget:
# registers, local memory, calls, and loads of 16 bytes.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
nvcc=$(sed -n 's/^NVCC = //p' "$top_builddir/Makefile")
[ -n "$nvcc" ] || { echo "1..0 # SKIP no CUDA compiler"; exit 77; }
python=$(command -v python3) || { echo "1..0 # SKIP no python3"; exit 77; }

compile() { "$nvcc" -std=c++17 -O3 -arch=sm_90 -I"$top_srcdir" -I"$top_srcdir/include" -I"$top_srcdir/papers/ovs" -Werror all-warnings -cubin -o "$1" "$2"; }
sass() { "$python" "$top_srcdir/tools/sass.py" "$@"; }

pairs=$work/pairs.cubin
try "the pairs compile without a warning" compile "$pairs" "$top_srcdir/tests/machine_code.cu"
try "the reader of machine code sees what is there" sass calibrate "$pairs"
printf '* 255\n' >"$work/any"
seen() { sass budget "$pairs" "$work/any" | grep "^$1: .*$2"; }
try "and a local array" seen one_LDL 'LDL.*bytes of stack'
try "and a call" seen one_CALL CALL
printf 'one_LDL* 255 stack<=65536\none_CALL* 255 CALL<=1\n* 255\n' >"$work/some"
allowed() { sass budget "$pairs" "$work/some" >"$work/told"; grep -q '^one_STL: ' "$work/told" && ! grep "^$1: " "$work/told"; }
try "local memory that a row allows is none of its offences" allowed one_LDL
try "nor are calls" allowed one_CALL
differs() { ! sass same "$pairs" cuda_find_by_thread cuda_find_by_warp; }
try "and what differs" differs
for pair in $(sed -n 's/^SIMT_KERNEL(dialect_\([a-z_]*\),.*/\1/p' "$top_srcdir/tests/machine_code.cu"); do
  try "$pair: the dialect's instructions are CUDA's" sass same "$pairs" "dialect_$pair" "cuda_$pair"
done

# make_code DESIGN FILE: the machine code of a file of a design's kernels for sm_90, as $work/DESIGN_FILE.cubin. It is what
# the library's build kept, if that was made for sm_90 with the usual flags; otherwise the kernels are compiled here.
make_code() {
  local folder=gpu/$1
  [ "$1" != gfsl ] || folder=papers/ovs/gfsl/gpu
  local object=$top_builddir/$folder/.libs/$2
  if [ -f "$object.sm_90.cubin" ] && grep -q '^NVCCFLAGS = -O3$' "$top_builddir/Makefile"; then
    cp "$object.sm_90.cubin" "$work/$1_$2.cubin" && [ ! -s "$object.messages" ]
  else
    compile "$work/$1_$2.cubin" "$top_srcdir/$folder/$2.cu"
  fi
}

kernels=$work/hkv_kernels.cubin
try "the kernels compile without a warning" make_code hkv kernels
try "no local memory, no calls, wide loads, registers within the budget" sass budget "$kernels" "$top_srcdir/tests/machine_code.budget"

expressions=$work/hkv_kernels_expression.cubin
try "the kernels for policy expressions compile without a warning" make_code hkv kernels_expression
try "their calls, local memory and registers within their budget" sass budget "$expressions" "$top_srcdir/tests/machine_code_expression.budget"

apart=$work/hkv_kernels_apart.cubin
try "the kernels for policies that spare compile without a warning" make_code hkv kernels_apart
try "their calls, local memory and registers within their budget" sass budget "$apart" "$top_srcdir/tests/machine_code_apart.budget"

hive=$work/hive_kernels.cubin
try "Hive's kernels compile without a warning" make_code hive kernels
try "local memory, calls and registers within their budget" sass budget "$hive" "$top_srcdir/tests/machine_code.budget"

sl=$work/sl_kernels.cubin
try "the kernels of the ordered table compile without a warning" make_code sl kernels
try "no local memory, registers within the budget" sass budget "$sl" "$top_srcdir/tests/machine_code.budget"
list=$work/gfsl_kernels.cubin
try "the kernels of gfsl compile without a warning" make_code gfsl kernels
try "no local memory, and registers within their budget" sass budget "$list" "$top_srcdir/tests/machine_code.budget"
segments=$work/ovs_kernels.cubin
try "the kernels of ovs compile without a warning" make_code ovs kernels
try "no local memory, no calls, and registers within their budget" sass budget "$segments" "$top_srcdir/tests/machine_code.budget"
ranges=$work/ovs_kernels_range.cubin
try "the kernels of ovs for ranges compile without a warning" make_code ovs kernels_range
try "and keep to the same budget" sass budget "$ranges" "$top_srcdir/tests/machine_code.budget"

hashes=$work/hashes.cubin
try "the hash functions compile without a warning" compile "$hashes" "$top_srcdir/tests/machine_code_hashes.cu"
try "no local memory and no calls for their tables either" sass budget "$hashes" "$top_srcdir/tests/machine_code.budget"

finish
