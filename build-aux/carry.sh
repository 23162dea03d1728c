#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# carry.sh FOLDER PROGRAM... - copies stripped programs to FOLDER and the shared libraries that they need to FOLDER/lib,
# for a machine with only a C library and a GPU driver. There: LD_LIBRARY_PATH=FOLDER/lib.
set -eu
folder=${1:?"carry.sh FOLDER PROGRAM..."}
shift
mkdir -p "$folder/lib"
for program; do
  strip -o "$folder/${program##*/}" "$program"
  ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | while read -r so; do
    case ${so##*/} in
    libc.so* | libm.so* | libpthread* | libdl.so* | librt.so* | ld-linux*) ;;
    *) cp -L "$so" "$folder/lib/" ;;
    esac
  done
done
