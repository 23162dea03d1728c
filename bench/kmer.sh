#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# kmer.sh - times heddle kmer, jellyfish and KMC on the same file, one after another in each round, and compares their
# histograms.
#
#   kmer.sh run HEDDLE FILE K OUT   FILE is plain FASTA (.fa, .fasta, .fna) or FASTQ. OUT gets a row for each program
#                                   and round: TSV
#   kmer.sh table OUT               the medians, as a table of Markdown
#
# ROUNDS (3) and THREADS (2) say how often and on how many threads. WAYS lists further tables of heddle, as
# DESIGN/BACKEND or DESIGN/BACKEND/OPTION: WAYS='hkv/cuda ovs/cuda/--near=4Gi'. A program that is not installed is left
# out, and said to be. Times are of counting alone for jellyfish and KMC, and of counting and the histogram for heddle. The exit
# code is 1 if histograms differ.
set -u

work=$(mktemp -d) || exit 4
trap 'rm -rf "$work"' EXIT

# timed NAME COMMAND...: "wall cpu" in seconds; what it prints goes to $work/NAME.out.
timed() {
  local name=$1 TIMEFORMAT='%R %U %S' code
  shift
  { time "$@" >"$work/$name.out" 2>"$work/$name.err"; code=$?; } 2>"$work/$name.time"
  if [ $code != 0 ]; then
    echo "kmer.sh: $name ended with $code: $(tail -n 1 "$work/$name.err")" >&2
    return 1
  fi
  awk '{ printf "%.2f\t%.2f\n", $1, $2 + $3 }' "$work/$name.time"
}

# How often k-mers occur, and how many do: rows in $work/NAME.histogram.
# $1: heddle, or heddle.DESIGN.BACKEND[.OPTION].
count_heddle() {
  local design=hkv backend=ref option=
  [ "$1" = heddle ] || IFS=. read -r _ design backend option <<<"$1"
  timed "$1" "$heddle" kmer "$file" "$k" --design "$design" --backend "$backend" --threads "$threads" --histogram --csv ${option:+"$option"} || return 1
  awk -F, 'NR > 1 { print $1, $2 }' "$work/$1.out" >"$work/$1.histogram"
}
count_jellyfish() {
  timed jellyfish jellyfish count -m "$k" -C -s "$(wc -c <"$file")" -t "$threads" -o "$work/jf" "$file" || return 1
  jellyfish histo -h "$most" "$work/jf" >"$work/jellyfish.histogram"
}
count_kmc() {
  local form=-fq
  case $file in *.fa | *.fasta | *.fna) form=-fm ;; esac
  mkdir -p "$work/bins"
  timed kmc kmc "-k$k" -ci1 "-cs$most" "-t$threads" "$form" "$file" "$work/kmc" "$work/bins" || return 1
  kmc_tools -hp transform "$work/kmc" histogram "$work/kmc.rows" "-cx$most" >"$work/tools.out" 2>&1
  awk '$2 { print $1, $2 }' "$work/kmc.rows" >"$work/kmc.histogram"
}

version_heddle() { "$heddle" --version | grep -oE '[0-9]+\.[0-9.]+' | head -n 1; }
version_jellyfish() { jellyfish --version | grep -oE '[0-9]+\.[0-9.]+'; }
version_kmc() { kmc 2>&1 | grep -oE 'ver\. [0-9.]+' | tr -d 'ver. ' | sed 's/^\(.\)\(.\)/\1.\2./'; }

run() {
  heddle=$1 file=$2 k=$3 threads=${THREADS:-2} most=10000000
  local out=$4 programs=(heddle) program times round way code=0
  for way in ${WAYS:-}; do programs+=("heddle.${way//\//.}"); done
  for program in jellyfish kmc; do
    if command -v $program >/dev/null; then programs+=("$program"); else echo "kmer.sh: $program is not installed" >&2; fi
  done
  {
    printf '# kmer.sh: %s bytes, k = %s, %s threads; %s, %s processors, load average %s\n' "$(wc -c <"$file")" "$k" "$threads" \
      "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)"
    printf 'program\tversion\tround\twall_s\tcpu_s\n'
    for ((round = 1; round <= ${ROUNDS:-3}; round++)); do
      for program in "${programs[@]}"; do
        times=$("count_${program%%.*}" "$program") || return 1
        printf '%s\t%s\t%s\t%s\n' "$program" "$("version_${program%%.*}")" $round "$times"
      done
    done
  } >"$out" || return 1
  for program in "${programs[@]:1}"; do
    cmp -s "$work/heddle.histogram" "$work/$program.histogram" && continue
    echo "kmer.sh: the histograms of heddle and $program differ: $(diff "$work/heddle.histogram" "$work/$program.histogram" | head -n 2 | tail -n 1)" >&2
    code=1
  done
  return $code
}

# speed: the peer's time over heddle's.
table() {
  grep -v -e '^#' -e '^program' "$1" | sort -t $'\t' -k1,1 -k4,4n | awk -F'\t' '
    !n[$1] { order[++all] = $1 }
    { wall[$1, ++n[$1]] = $4; version[$1] = $2 }
    { cpu[$1] += $5 }
    END {
      print "| program | wall, s | processor, s | heddle is so many times as fast: wall / processor |"
      print "|---|---|---|---|"
      for (i = 1; i <= all; i++) {
        p = order[i]
        m = wall[p, int((n[p] + 1) / 2)]
        c = cpu[p] / n[p]
        if (p == "heddle") { own = m; used = c }
        printf "| %s %s | %.2f | %.2f | %s |\n", p, version[p], m, c, p == "heddle" ? "" : sprintf("%.2f / %.2f", m / own, c / used)
      }
    }'
}

case ${1-}:$# in
run:5) run "${@:2}" ;;
table:2) table "$2" ;;
*)
  echo 'usage: kmer.sh run HEDDLE FILE K OUT | kmer.sh table OUT' >&2
  exit 2
  ;;
esac
