#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# kmer_far.sh - counts the k-mers of a made genome of 1e9 bases, for k = 16 and 21, in tables with half of their segments
# in host memory, and compares the histograms with those of other tables and of KMC. ovs.md has the results.
#
#   kmer_far.sh pack BUILD FOLDER    here, from a build with CUDA (configure --with-cuda-arch=90) and with KMC installed
#   kmer_far.sh run FOLDER OUT       there, on a machine with a GPU and 64 GB of host memory: OUT/16.tsv and OUT/21.tsv.
#                                    Exit code 1: histograms differ; 77: no GPU
#
# BASES (1000M) is the length of the genome. NEAR_OVS (4300M; 8600M for k = 21) and NEAR_SL (8600M) are bytes of device
# memory for the tables. K ("16 21") says which k.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

pack() {
  LD_LIBRARY_PATH="$1/.libs" "$here/../../build-aux/carry.sh" "$2" "$1/heddle" "$(command -v kmc)" "$(command -v kmc_tools)" &&
    cp "${BASH_SOURCE[0]}" "$here/../kmer.sh" "$2/" && du -sh "$2"
}

run() {
  local folder out=$2 genome k code=0 sl ovs
  nvidia-smi -L >/dev/null 2>&1 || exit 77
  mkdir -p "$out" && folder=$(cd "$1" && pwd) && genome=$(mktemp -d)/genome.fa || return
  export LD_LIBRARY_PATH="$folder/lib" LC_ALL=C.UTF-8 PATH="$folder:$PATH" ROUNDS=${ROUNDS:-1} THREADS=${THREADS:-16}
  heddle gen genome --bases "${BASES:-1000M}" --interspersed 0.2 --seed 8 -o "$genome" || return
  for k in ${K:-16 21}; do
    sl="sl/cuda/--near=${NEAR_SL:-8600M}"
    ovs=${NEAR_OVS:-$((k <= 16 ? 4300 : 8600))M} # keys of more than 32 bits have entries of 16 bytes
    WAYS="hkv/cuda ovs/cuda/--near=$ovs $sl" "$folder/kmer.sh" run heddle "$genome" "$k" "$out/$k.tsv" || code=1
    cat "$out/$k.tsv"
  done
  rm -r "$(dirname "$genome")"
  return $code
}

case ${1:-}:$# in
pack:3) pack "$2" "$3" ;;
run:3) run "$2" "$3" ;;
*) sed -n 's/^#   //p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
