#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# hkv_run.sh build FOLDER                here: makes FOLDER/hkv_run and FOLDER/soak (judge/device) for sm_90 without
#                                        configure, linked statically with the CUDA runtime and xxHash
# hkv_run.sh run FOLDER OUT [PART ...]   there, on a machine with a GPU, but without libraries: OUT/*.tsv. By default
#                                        check, sanitizers (small; if installed), soak and time: eight minutes
#
# Each part has its own limit, and the next part runs even if a part fails. Further parts:
#   huge, random, two, reach     judge/device; the last three for SECONDS_RANDOM, SECONDS_TWO, SECONDS_REACH
#   hive.agree, hive.reach       random batches of Hive in every shape, for SECONDS_AGREE and SECONDS_REACH; and REACH
#                                operations by every variant. So for ovs, sl and gphash
#   hive.sanitizers              small tables of all shapes under each sanitizer, for SECONDS_SANITIZER (20)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
folder=${2:?"hkv_run.sh build FOLDER, or run FOLDER OUT"}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

build() {
  mkdir -p "$folder" || return
  local objects=() f o
  # Of the judge, soak needs the table judge_ops of rules.c; the linker leaves out the rest of that file.
  for f in "$top"/{base,concurrency,lib,policies,ref,ref/hkv,ref/hive,ref/words,ref/ovs,ref/sl,ref/gphash,gpu/gphash,gpu/hkv,gpu/hive,gpu/ovs,gpu/sl,simt}/*.c "$top"/judge/{expression,rules}.c; do
    case $f in */device_none.c | */raw_hooks.c) continue ;; esac # no part of this library
    o=${f#"$top"/}
    o=$folder/$(printf %s "${o%.c}" | tr / -).o
    gcc -std=c11 -O2 -ffunction-sections -fdata-sections -D_GNU_SOURCE -DHD_CUDA -I"$top" -I"$top/include" -c -o "$o" "$f" || return
    objects+=("$o")
  done
  for f in "$top"/{lib,gpu/gphash,gpu/hive,gpu/hkv,gpu/ovs,gpu/sl}/*.cu "$top"/{bench/device/hkv_run,judge/device/soak}.cu; do
    f=${f#"$top"/}
    f=${f%.cu}
    o=$folder/$(case $f in gpu/*) printf %s "$f" | tr / - ;; *) basename "$f" ;; esac).o
    "$nvcc" -std=c++17 -O3 -lineinfo --extended-lambda -arch=sm_90 -I"$top" -I"$top/include" -c -o "$o" "$top/$f.cu" || return
    case $f in lib/* | gpu/*) objects+=("$o") ;; esac
  done
  for f in hkv_run soak; do
    "$nvcc" -arch=sm_90 -cudart static -Xcompiler -static-libstdc++,-static-libgcc -Xlinker --gc-sections \
      -o "$folder/$f" "$folder/$f.o" "${objects[@]}" -l:libxxhash.a -lpthread || return
  done
}

# part NAME SECONDS COMMAND...
part() {
  local name=$1 seconds=$2 code
  shift 2
  timeout -k 5 "$seconds" "$@" >"$out/$name.tsv" 2>"$out/$name.err"
  code=$?
  [ -s "$out/$name.err" ] || rm -f "$out/$name.err"
  printf '%-12s %s\n' "$name" "$(case $code in 0) echo ok ;; 77) echo skipped ;; 124 | 137) echo "out of time" ;; *) echo "FAILED ($code)" ;; esac)"
  [ $code = 0 ] || [ $code = 77 ] || failed=1
  grep -h WRONG "$out/$name.tsv" | head -n 10
}

# sanitize PREFIX SECONDS COMMAND...: a part for each sanitizer.
sanitize() {
  local prefix=$1 seconds=$2 tool
  shift 2
  for tool in memcheck racecheck initcheck synccheck; do part "$prefix$tool" "$seconds" compute-sanitizer --tool $tool --error-exitcode 9 "$@"; done
}

case ${1:-} in
build) build ;;
run)
  out=${3:?"hkv_run.sh run FOLDER OUT"}
  mkdir -p "$out"
  failed=0
  program=$folder/hkv_run
  parts=" ${*:4} "
  wanted() { [ "$parts" = "  " ] || [[ $parts = *" $1 "* ]]; }
  ! wanted check || part check 120 "$program" check 2
  ! wanted sanitizers || ! command -v compute-sanitizer >/dev/null || sanitize "" 60 "$program" sanitize
  ! wanted soak || part soak 100 "$program" soak "${OPERATIONS:-100000000}"
  [[ $parts != *" huge "* ]] || part huge "${SECONDS_HUGE:-200}" "$folder/soak" huge coalesced tlpv1
  for timed in random:${SECONDS_RANDOM:-300} two:${SECONDS_TWO:-100}; do
    [[ $parts != *" ${timed%:*} "* ]] || part "${timed%:*}" $((${timed#*:} + 60)) "$folder/soak" "${timed%:*}" "${timed#*:}"
  done
  [[ $parts != *" reach "* ]] || part reach $((${SECONDS_REACH:-500} + 60)) "$folder/soak" reach "${REACH:-1e10}" "${SECONDS_REACH:-500}"
  export DESIGN=hive
  [[ $parts != *" hive.sanitizers "* ]] || SMALL=1 sanitize hive. $((${SECONDS_SANITIZER:-20} + 60)) "$folder/soak" random "${SECONDS_SANITIZER:-20}"
  for DESIGN in hive ovs sl gphash; do
    [[ $parts != *" $DESIGN.agree "* ]] || part $DESIGN.agree $((${SECONDS_AGREE:-60} + 30)) "$folder/soak" random "${SECONDS_AGREE:-60}"
    [[ $parts != *" $DESIGN.reach "* ]] ||
      part $DESIGN.reach $((${SECONDS_REACH:-500} + 60)) "$folder/soak" reach "${REACH:-1e10}" "${SECONDS_REACH:-500}"
  done
  unset DESIGN
  ! wanted time || { part time 120 "$program" time; cat "$out/time.tsv"; }
  [ $failed = 1 ] || ! grep -qs '^# skipped' "$out/check.tsv" || exit 77
  exit $failed
  ;;
*) sed -n '4,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
