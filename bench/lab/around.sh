#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# around.sh - measures what is around the kernels: calls, host arrays, growth, whole tables, large values, k-mers.
# bench/lab/around.md has the goals, the results, and what bounds them.
#
#   around.sh pack BUILD FOLDER [HKV]    here, from a build with CUDA (configure --with-cuda-arch=90): compiles and packs
#                                        the programs. HKV is a checkout of HierarchicalKV, the peer of large values
#   around.sh run FOLDER OUT [PART ...]  there, on a machine with a GPU: OUT/PART.tsv for each part; 77: no GPU
#   around.sh cpu HEDDLE BEFORE OUT      anywhere: OUT/cpu.tsv, one core; BEFORE is `heddle` of an earlier commit
#
#   calls        calls that are waited for            host_arrays  batches with arrays in host memory
#   growth       hd_grow of 1 Mi to 1 Gi entries      whole        hd_save and hd_load, on DISK and in memory
#   merlin       the header for HierarchicalKV        wide         dims 64 to 1,024; HierarchicalKV in the same run
#   kmer         1e9 bases; needs jellyfish and kmc   table        bench/bench.sh's goals of dims 128, 256 and 1,024
#
# DISK is a folder on a disk (default: OUT). SECONDS_MOST is the limit of each part (200).
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

pack() {
  local build=$1 folder=$2 hkv=${3:-} work f
  local -a programs=("$build/heddle")
  work=$(mktemp -d) || return
  for f in calls host_arrays growth merlin wide; do
    "$nvcc" -O2 -std=c++17 -arch=sm_90 -DC_API -I"$here/../../include" -I"$here/../../include/heddle" "$here/$f.cu" \
      -o "$work/$f" -L"$build/.libs" -lheddle || return
    programs+=("$work/$f")
  done
  cc -O2 -std=c11 -I"$here/../../include" "$here/whole.c" -o "$work/whole" -L"$build/.libs" -lheddle || return
  programs+=("$work/whole")
  if [ "$hkv" ]; then
    "$nvcc" -O2 -std=c++17 -arch=sm_90 -I"$hkv/include" "$here/wide.cu" -o "$work/wide_hkv" || return
    programs+=("$work/wide_hkv")
  fi
  for f in jellyfish kmc kmc_tools; do # the peers of kmer, if they are installed
    ! command -v "$f" >/dev/null || programs+=("$(command -v "$f")")
  done
  LD_LIBRARY_PATH="$build/.libs" "$here/../../build-aux/carry.sh" "$folder" "${programs[@]}" || return
  rm -r "$work"
  cp "${BASH_SOURCE[0]}" "$here/../kmer.sh" "$folder/" && du -sh "$folder"
}

# One part: writes its table to the standard output.
part() {
  local folder=$1 out=$2 disk=${DISK:-$2}
  case $3 in
  calls) "$folder/calls" ;;
  host_arrays) "$folder/host_arrays" 8 && "$folder/host_arrays" 128 ;;
  growth) "$folder/growth" 1 16 64 256 1024 ;;
  merlin) "$folder/merlin" ;;
  whole)
    for f in "$disk/around.heddle" /dev/shm/around.heddle; do
      for shape in '16777216 16' '67108864 128'; do
        # shellcheck disable=SC2086 # two words
        echo "# $f $shape" && "$folder/whole" cuda $shape "$f" 75
        rm -f "$f"
      done
    done
    dd if=/dev/zero of="$disk/around.dd" bs=16M count=256 conv=fsync 2>&1 | sed -n 's/^/# /p'
    rm -f "$disk/around.dd"
    ;;
  wide)
    for dim in 64 128 256 1024; do # a peer that fails at one size is measured at the next one
      "$folder/wide" heddle "$dim" || return
      [ ! -x "$folder/wide_hkv" ] || "$folder/wide_hkv" HierarchicalKV "$dim" || echo "# HierarchicalKV, dim $dim: exit $?"
    done
    ;;
  table)
    for shape in 'dim=64,128,256 capacity=32Mi batch=1Mi' 'dim=1024 capacity=8Mi batch=256Ki'; do
      # shellcheck disable=SC2086 # three words
      "$folder/heddle" bench --backend cuda find assign insert_or_assign insert_and_evict find_or_insert erase \
        $shape load=0.5,1 --repeat 3 -o "$out/table.rows.tsv" >&2 && cat "$out/table.rows.tsv" || return
    done
    ;;
  kmer)
    "$folder/heddle" gen genome --bases 1G --interspersed 0.2 --seed 5 -o "$disk/around.fa" &&
      THREADS=$(nproc) WAYS='hkv/cuda' "$folder/kmer.sh" run "$folder/heddle" "$disk/around.fa" 21 "$out/kmer.rows.tsv" >&2
    cat "$out/kmer.rows.tsv"
    rm -f "$disk/around.fa"
    ;;
  *) echo "there is no part $3" >&2; return 2 ;;
  esac
}

run() {
  local folder=$1 out=$2 p code worst=0
  shift 2
  mkdir -p "$out" && folder=$(cd "$folder" && pwd) && out=$(cd "$out" && pwd) || return
  [ $# -gt 0 ] || set -- calls host_arrays growth whole merlin wide table kmer
  export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" LC_ALL=C.UTF-8 PATH="$folder:$PATH"
  for p; do
    timeout -k 5 "${SECONDS_MOST:-200}" "$folder/around.sh" part "$folder" "$out" "$p" >"$out/$p.tsv" 2>"$out/$p.err"
    code=$?
    echo "$p: exit $code"
    [ "$code" -le "$worst" ] || worst=$code
  done
  return "$worst"
}

# Four operations of one core, on tables of 64 Mi entries, by both programs in turn.
cpu() {
  local out=$3 which program
  mkdir -p "$out" && : >"$out/cpu.tsv" || return
  for probe in hit miss new accum; do
    case $probe in
    new) words='probe=new hkv.insert_or_assign.ref' ;;
    accum) words='probe=hit hkv.accum_or_assign.ref' ;;
    *) words="probe=$probe hkv.find.ref" ;;
    esac
    for which in after before; do
      program=$1
      [ $which = after ] || program=$2
      OMP_NUM_THREADS=1 "$program" bench "$words threads=1 capacity=64Mi value=8 batch=65536" --repeat 3 --min-time 1 \
        -o "$out/one.tsv" >&2 && sed "s/^/$which\t$probe\t/" "$out/one.tsv" >>"$out/cpu.tsv" || return
    done
  done
}

case ${1:-} in
pack) pack "${2:?build}" "${3:?folder}" "${4:-}" ;;
run) run "${2:?folder}" "${3:?out}" "${@:4}" ;;
part) part "${2:?folder}" "${3:?out}" "${4:?part}" ;;
cpu) cpu "${2:?heddle}" "${3:?before}" "${4:?out}" ;;
*) sed -n '4,19s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
