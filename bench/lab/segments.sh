#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# segments.sh - measures tables larger than device memory, and ordered tables, on a GPU (segments.cu). ovs.md has
# the results.
#
#   segments.sh pack BUILD FOLDER    here, from a build with CUDA (configure --with-cuda-arch=90)
#   segments.sh run FOLDER [RUN]     there, on a machine with a GPU and 96 GB of host memory: prints rows; of the runs
#                                    that begin with RUN alone, a pattern of grep, such as ovs:. Some minutes.
#                                    77: no GPU
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
columns='design\tnear\tentries\tkernel\twhat\titems\tms\trate\twrong\n'

pack() {
  mkdir -p "$2" && cp -L "$1/.libs/libheddle.so.0" "$2" && strip "$2/libheddle.so.0" && cp "${BASH_SOURCE[0]}" "$2" &&
    "$nvcc" -O2 -std=c++17 -arch=sm_90 -I"$here/../.." -I"$here/../../include" "$here/segments.cu" -o "$2/segments" -L"$1/.libs" -lheddle \
      -Xlinker -rpath -Xlinker '$ORIGIN'
}

# CAPACITY NEAR ENTRIES FILL BATCHES [KERNELS], by design
runs() {
  cat <<'RUNS'
hive 67108864 1 57000000 57000000 1048576
hive 67108864 1 57000000 57000000 16777216
ovs 67108864 1 57000000 57000000 1048576 quad,probe4,probe8,probe16,probe32,flip
ovs 67108864 1 57000000 57000000 16777216 quad
ovs 1073741824 0.5 858993459 134217728 1048576 -,flip,quad
ovs 1073741824 0.5 858993459 134217728 16777216 -,flip,quad
ovs 4705882352 0.5 4000000000 1000000000 16777216 -
ovs 8589934592 0.5 4200000000 525000000 16777216 -
ovs 8589934592 0.1 4200000000 525000000 16777216 -
ovs:none 67108864 1 57000000 57000000 1048576,16777216 quad
ovs:digest 67108864 1 57000000 57000000 1048576,16777216 quad
ovs:none 67108864 0.1 57000000 57000000 65536,1048576,16777216 -
ovs:none 536870912 0.1 400000000 134217728 65536,1048576,16777216 -
ovs:none 1073741824 0.1 858993459 134217728 65536,1048576,16777216 -
ovs:none 4294967296 0.1 3435973836 429496729 65536,1048576,16777216 -
ovs:copies=0.5 67108864 0.1 57000000 57000000 65536,1048576,16777216 -
ovs:copies=0.5 536870912 0.1 400000000 134217728 65536,1048576,16777216 -
ovs:copies=0.5 1073741824 0.1 858993459 134217728 65536,1048576,16777216 -
ovs:copies=0.5 4294967296 0.1 3435973836 429496729 65536,1048576,16777216 -
ovs:digest 4294967296 0.1 3435973836 429496729 65536,1048576,16777216 -
ovs:digest 8589934592 0.1 4200000000 525000000 16777216 -
ovs:range 1073741824 0.5 858993459 134217728 1048576,16777216 -,quad
ovs:range 1073741824 0.1 858993459 134217728 65536,1048576,16777216 -,quad
ovs:pairs 67108864 1 52000000 52000000 1048576,16777216 wide
ovs:pairs 67108864 1 52000000 52000000 1048576,16777216 flip
ovs:pairs 1073741824 0.5 858993459 134217728 1048576,16777216 -,wide,flip
sl 134217728 1 67108864 67108864 67108864
sl 134217728 1 67108864 16777216 1048576
sl 1073741824 0.5 500000000 250000000 4096
sl 1073741824 0.5 500000000 250000000 65536
sl 1073741824 0.5 500000000 250000000 4194304
sl 1073741824 0.5 500000000 250000000 67108864
sl 1073741824 0.3 500000000 250000000 16777216
RUNS
}

run() {
  nvidia-smi -L >/dev/null 2>&1 || exit 77
  printf "$columns"
  [ -n "${2:-}" ] || { "$1/segments" bus 12 && "$1/segments" bus 48; } || exit
  runs | grep "^${2:-}" | while read -r line; do
    # shellcheck disable=SC2086
    "$1/segments" $line || exit
  done
}

case ${1:-} in
pack) pack "$2" "$3" ;;
run) run "$2" "${3:-}" ;;
*) sed -n 's/^#   //p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
