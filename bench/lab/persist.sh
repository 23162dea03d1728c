#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# persist.sh PERSIST MEMORY DISK - every point of persist.tsv on this machine's GPU, to standard output. The rows of
# papers/gphash/results/device.tsv: PERSIST FILE paper far 16 16777216 4194304. PERSIST: the program of persist.cu,
# built by
#   nvcc -arch=sm_90 -O3 -Iinclude -o persist bench/lab/persist.cu build/.libs/libheddle.so
# MEMORY, DISK: a folder of a file system in memory, and one of a disk.
set -u
persist=${1:?} memory=${2:?} disk=${3:?}
printf 'point\tdurable\tindex\tvalue_bytes\tkeys\tbatch\trate\tleast\tmost\n'
m=$((1 << 20))
$persist "$memory/table" process near 16 $((16 * m)) $m
$persist "$memory/table" process far 16 $((16 * m)) $m
$persist "$memory/table" process near 1 $((16 * m)) $m
$persist "$memory/table" process near 16 $((16 * m)) $((m / 16))
$persist "$memory/table" process near 1 $((256 * m)) $((16 * m))
$persist "$memory/table" cached near 16 $((16 * m)) $m 0 0.05 0.1 0.2 0.4
$persist "$memory/table" cached near 16 $((16 * m)) $((4 * m)) 0 0.2
$persist "$memory/table" cached far 16 $((16 * m)) $m 0 0.05 0.1 0.2 0.4
$persist "$disk/table" disk near 16 $((16 * m)) $m
$persist "$memory/table" snapshot near 1 $((16 * m)) $m
