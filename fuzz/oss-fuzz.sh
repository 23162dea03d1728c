#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# oss-fuzz.sh - builds every target for OSS-Fuzz, from a checkout in $SRC/heddle (or this one), with the given $CC,
# $CFLAGS and $LIB_FUZZING_ENGINE. $OUT gets a program TARGET, TARGET_seed_corpus.zip, TARGET.dict and TARGET.options;
# $WORK gets the objects.
#
#     docker image: apt-get install -y autoconf automake libtool pkg-config libxxhash-dev libzstd-dev zlib1g-dev \
#                   libjansson-dev
#     here:         OUT=/tmp/out WORK=/tmp/work fuzz/oss-fuzz.sh
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
src=${SRC:+$SRC/heddle}
[ -n "$src" ] && [ -d "$src" ] || src=$here
: "${OUT:?where the fuzzers go}" "${WORK:=$(mktemp -d)}" "${CC:=clang}"
: "${CFLAGS:=-g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined}" "${LIB_FUZZING_ENGINE:=-fsanitize=fuzzer}"
export CC CFLAGS LIB_FUZZING_ENGINE
mkdir -p "$OUT" "$WORK/heddle"

# Where fuzzers run there are no libraries but the C library: the archives, where they are.
archive() { # VARIABLE NAME
  case $("$CC" -print-file-name="lib$2.a") in /*) export "$1_LIBS=-l:lib$2.a" "$1_CFLAGS= " ;; esac
}
archive XXHASH xxhash
archive ZSTD zstd
archive ZLIB z
archive JANSSON jansson

[ -x "$src/configure" ] || (cd "$src" && ./autogen.sh >/dev/null 2>&1)
cd "$WORK/heddle"
"$src/configure" --quiet --enable-fuzzers --disable-openmp --disable-shared --enable-static --with-cuda=no
make -j"${JOBS:-$(nproc)}" fuzzers fuzz-replays

for program in fuzz/bin/*-replay; do
  target=$(basename "$program" -replay)
  cp "fuzz/bin/$target" "$OUT/$target"
  "$program" --words >"$OUT/$target.dict"
  [ -s "$OUT/$target.dict" ] || rm "$OUT/$target.dict"
  printf '[libfuzzer]\nmax_len = %s\n' "$("$program" --most)" >"$OUT/$target.options"
  (cd "$src/fuzz/corpus/$target" && rm -f "$OUT/${target}_seed_corpus.zip" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" ./*)
done
ls -l "$OUT"
