#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# held.sh - calls made while earlier work is held up, on a GPU: of the C interface (held_cuda.cu), and of heddle and
# heddle.torch (python/held.py).
#
#   held.sh pack BUILD FOLDER    here, in a folder that configure --with-cuda-arch=90 has made: makes the library and
#                                the wheel, and packs both with the programs
#   held.sh run FOLDER [SECONDS [PATTERN]]
#                                there, with python3 and PyTorch: prints what differs, and counts. Each subject
#                                takes at most so many seconds (460). PATTERN: "c", or which subjects of Python.
#                                Returns 0: nothing differs; 77: no GPU
#   held.sh without FOLDER [SECONDS]
#                                there: leaves the waits of heddle.torch out, one after another, and returns 0 if each
#                                makes something differ within so many seconds (60)
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

pack() {
  local build=$1 folder=$2 include=(-DHELD_LIST=3200 -I"$here/.." -I"$here/../include")
  make -C "$build" ${NVCC:+NVCC="$NVCC"} libheddle.la wheel && mkdir -p "$folder" && rm -rf "${folder:?}"/* &&
    cp -L "$build/.libs/libheddle.so.0" "$build"/dist/*.whl "$here/python/held.py" "${BASH_SOURCE[0]}" "$folder" &&
    strip "$folder/libheddle.so.0" &&
    "${CC:-cc}" -O2 -std=gnu11 "${include[@]}" -c "$here/held.c" -o "$folder/held.o" &&
    "$nvcc" -O2 -std=c++17 -arch=sm_90 "${include[@]}" "$here/held_cuda.cu" "$folder/held.o" -o "$folder/held_cuda" \
      -L"$build/.libs" -lheddle -Xlinker -rpath -Xlinker '$ORIGIN' && rm "$folder/held.o" && du -sh "$folder"
}

run() {
  local folder=$1 seconds=${2:-460} pattern=${3:-*} code=0 subject out pids=() outs=()
  nvidia-smi -L >/dev/null 2>&1 || return 77
  [ -d "$folder/site" ] || python3 -m zipfile -e "$folder"/*.whl "$folder/site" || return
  export PYTHONPATH=$folder/site
  while read -r subject; do # all at once: they share the GPU, and have different places in which to wait
    out=$(mktemp) && outs+=("$out")
    if [ "$subject" = c ]; then
      "$folder/held_cuda" "$seconds" 1000 1 >"$out" 2>&1 &
    else
      python3 "$folder/held.py" "$seconds" "$subject" >"$out" 2>&1 &
    fi
    pids+=($!)
  done < <(case $pattern in c | '*') echo c ;; esac && [ "$pattern" = c ] || python3 "$folder/held.py" 0 "$pattern" names)
  for subject in "${pids[@]}"; do wait "$subject" || code=1; done
  cat "${outs[@]}" && rm "${outs[@]}" && return $code
}

without() {
  local folder=$1 seconds=${2:-60} wait found=0
  for wait in turn whole prefetched; do
    PYTHONPATH="$folder/site" python3 "$folder/held.py" "$seconds" Embedding "$wait" | tail -1
    [ "${PIPESTATUS[0]}" = 1 ] && found=$((found + 1))
  done
  echo "# $found of 3 waits, left out, were missed" && [ $found = 3 ]
}

case ${1:-} in
pack) pack "${2:?build}" "${3:?folder}" ;;
run) run "${2:?folder}" "${3:-460}" "${4:-*}" ;;
without) without "${2:?folder}" "${3:-60}" ;;
*) sed -n 's/^#   //p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
