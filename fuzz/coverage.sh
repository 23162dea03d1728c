#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# coverage.sh [FOLDER] - the line coverage of the fuzz targets: a row per target, a column per folder of sources. The
# inputs are fuzz/corpus and, if FOLDER is given, FOLDER/TARGET. Builds with clang's source-based coverage, in $BUILD or
# a temporary folder. FUZZ_MORE=1 lists the files of ref/, lib/, judge/ and workload/ that all targets together cover
# least.
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
more=${1:+$(cd "$1" && pwd)}
build=${BUILD:-$(mktemp -d)}
for tool in clang llvm-profdata llvm-cov python3; do
  command -v $tool >/dev/null || { echo "coverage.sh: $tool is missing (Debian: clang llvm python3)" >&2; exit 77; }
done
[ -x "$src/configure" ] || (cd "$src" && ./autogen.sh >/dev/null 2>&1)
mkdir -p "$build" && cd "$build"
[ -f Makefile ] || "$src/configure" --quiet CC=clang CFLAGS='-g -O1 -fprofile-instr-generate -fcoverage-mapping' --disable-openmp --disable-shared --enable-static --with-cuda=no >/dev/null
make -j"${JOBS:-$(nproc)}" fuzz-replays >make.log 2>&1 || { tail -n 20 make.log >&2; exit 1; }

mkdir -p coverage
for program in fuzz/bin/*-replay; do
  target=$(basename "$program" -replay)
  LLVM_PROFILE_FILE=coverage/$target.%p.raw
  export LLVM_PROFILE_FILE
  rm -f coverage/"$target".*.raw
  find "$src/fuzz/corpus/$target" ${more:+"$more/$target"} -type f 2>/dev/null | tee coverage/$target.inputs | xargs -r -n 2000 "$program"
  llvm-profdata merge -sparse coverage/"$target".*.raw -o coverage/"$target".profile
  llvm-cov export -summary-only -instr-profile=coverage/"$target".profile "$program" >coverage/"$target".json
  llvm-cov export -format=lcov -instr-profile=coverage/"$target".profile "$program" >coverage/"$target".lcov
done
exec python3 - "$src" coverage "${FUZZ_MORE:-}" <<'END'
import collections, glob, os, sys

src, folder, more = sys.argv[1:]
rooms = ["lib", "ref", "policies", "concurrency", "simt", "gpu", "workload", "judge"]
all_lines = collections.defaultdict(dict)  # file -> line -> covered by any target


def read(path):
    lines, at = collections.defaultdict(dict), None
    for text in open(path):
        if text.startswith("SF:"):
            at = os.path.relpath(os.path.realpath(text[3:].strip()), os.path.realpath(src))
        elif text.startswith("DA:"):
            line, count = text[3:].split(",")[:2]
            lines[at][int(line)] = lines[at].get(int(line), 0) or int(count) > 0
    return lines


def share(lines, room):
    of = [hit for path, file in lines.items() if path.split("/")[0] == room for hit in file.values()]
    return f"{100 * sum(of) / len(of):.0f}%" if of else "-"


print(f"{'target':9}{'inputs':>8}" + "".join(f"{room:>13}" for room in rooms))
for path in sorted(glob.glob(folder + "/*.lcov")):
    target = os.path.basename(path)[:-5]
    lines = read(path)
    inputs = sum(1 for _ in open(f"{folder}/{target}.inputs"))
    print(f"{target:9}{inputs:8}" + "".join(f"{share(lines, room):>13}" for room in rooms))
    for name, file in lines.items():
        for line, hit in file.items():
            all_lines[name][line] = all_lines[name].get(line, False) or hit
print(f"{'together':9}{'':8}" + "".join(f"{share(all_lines, room):>13}" for room in rooms))
if more:
    worst = sorted((sum(f.values()) / len(f), n, len(f) - sum(f.values())) for n, f in all_lines.items() if n.split("/")[0] in ("lib", "ref", "judge", "workload"))
    for part, name, missed in worst[:16]:
        print(f"  {100 * part:3.0f}% {name}: {missed} lines not reached")
END
