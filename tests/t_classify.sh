# SPDX-License-Identifier: Apache-2.0
#
# t_classify.sh - heddle classify gives every read the votes and the taxon that a program of dictionaries gives it
# (classify.py): generated genomes and strains, each design and backend, whatever the batches. How many reads go back
# to the genome that they were made of. Tables that are kept, wrong pairs of files, damaged input, wrong command lines.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
python=$(command -v python3)
if [ -z "$python" ]; then
  skip 'reads by brute force' 'python3 is missing'
  finish
fi
cd "$work" || exit 1
words=$work/err
brute() { "$python" "$top_srcdir/tests/classify.py" "$@"; }

# fact KEY: its value in the last report.
fact() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" out; }
# classify ARGUMENT...: runs it; the exit code is in $code.
classify() { guard "$HEDDLE" classify "$@" --json >out 2>err <"${from:-/dev/null}"; code=$?; }
# agrees NAME WANT ARGUMENT...: exit 0, and the lines of reads are those of the file WANT.
agrees() {
  local name=$1 want=$2
  shift 2
  rm -f got.tsv
  classify "$@" --reads got.tsv
  if [ $code = 0 ] && cmp -s "$want" got.tsv; then pass "$name: $(fact classified) of $(fact reads) reads classified"
  else fail "$name: each read as by brute force" "exit $code: $(diff "$want" got.tsv | head -n 4)"
  fi
}
# counted NAME WANT: the taxa of the last report have the k-mers that the file WANT says.
counted() {
  { awk -F'"' '/"taxon"/ { name = $4 } /"kmers"/ { gsub(/[^0-9]/, "", $3); print name, $3 }' out; echo "ambiguous $(fact ambiguous)"; } | LC_ALL=C sort >counts
  if LC_ALL=C sort "$2" | cmp -s - counts; then pass "$1: $(fact distinct) k-mers, $(fact ambiguous) of them ambiguous"
  else fail "$1: the k-mers of each taxon" "$(LC_ALL=C sort "$2" | diff - counts | head -n 4)"
  fi
}

# ---- Genomes that have nothing in common, and reads with errors ------------------------------------------------------

taxa='a b c d e f'
seed=0
for taxon in $taxa; do
  seed=$((seed + 1))
  "$HEDDLE" gen genome --bases 60k --seed $seed -o $taxon.fa >/dev/null
  "$HEDDLE" gen genome --bases 60k --seed $seed --coverage 0.5 --errors 0.02 -o reads.fq >/dev/null
  sed "s/^@read/@$taxon:/" reads.fq >>sample.fq
done
references=(a.fa b.fa c.fa d.fa e.fa f.fa)
brute reads 16 file 1 sample.fq "${references[@]}" >want.tsv
brute table 16 file "${references[@]}" >want.table
agrees 'six genomes, reads with 2% errors' want.tsv sample.fq "${references[@]}"
counted 'six genomes' want.table
read -r reads right wrong silent < <(brute origins got.tsv)
if [ "$reads" -ge 1000 ] && [ $((right * 1000)) -ge $((reads * 999)) ]; then pass "$right of $reads reads go to their genome, $wrong to another one, $silent to none"
else fail '99.9% of the reads go to their genome' "$right of $reads right, $wrong wrong, $silent unclassified"
fi
sum=$(awk '/"reads": / { gsub(/[^0-9]/, ""); if (!n++) all = $0; else sum += $0 } END { print all - sum }' out)
if [ "$sum" = "$((reads - $(fact classified)))" ]; then pass 'the reads of all taxa are those that are classified'; else fail 'the reads of all taxa' "$sum"; fi
for design in hkv hive; do
  agrees "$design" want.tsv sample.fq "${references[@]}" --design $design
  agrees "$design, one thread, k-mers one at a time" want.tsv sample.fq "${references[@]}" --design $design --threads 1 --batch 1000
done
agrees 'a table that does not grow' want.tsv sample.fq "${references[@]}" --capacity 512Ki
if [ "$(fact doublings)" = 0 ]; then pass 'and did not'; else fail 'and did not' "it grew $(fact doublings) times"; fi
gzip -c sample.fq >sample.fq.gz && gzip -c a.fa >packed.fa.gz
agrees 'compressed reads' want.tsv sample.fq.gz "${references[@]}"
from=sample.fq agrees 'a pipe' want.tsv - "${references[@]}"
brute reads 21 file 30 sample.fq "${references[@]}" >want.tsv
agrees 'k = 21, 30 votes needed' want.tsv sample.fq "${references[@]}" --k 21 --min-votes 30
if [ "$(fact few_votes)" -gt 0 ]; then pass "$(fact few_votes) reads have too few votes"; else fail 'reads with too few votes' ''; fi

# ---- Strains of one genome: k-mers of both, ties; records; odd reads -------------------------------------------------

"$HEDDLE" gen genome --bases 5k --seed 9 -o root.fa >/dev/null
for strain in 1 2 3; do
  brute strain 0.03 $strain root.fa | sed "s/>.*/>strain$strain odd/" >strain$strain.fa
done
cat strain?.fa >joined.fa
"$python" - >odd.fa <<'END'
import random
chance, strains = random.Random(5), []
for i in (1, 2, 3):
    strains.append("".join(line.strip() for line in open(f"strain{i}.fa") if line[0] != ">"))
for i in range(400):
    which = chance.randrange(3)
    at, n = chance.randrange(4900), chance.choice((5, 15, 16, 17, 40, 80, 150, 2000))
    read = strains[which][at : at + n]
    if i % 3 == 0: read = read[::-1].translate(str.maketrans("ACGT", "TGCA"))
    if i % 5 == 0: read = read.lower()
    if i % 7 == 0: read = read[: n // 2] + "NRY" + read[n // 2 :]
    if i % 11 == 0: read = read[: n // 2] + strains[(which + 1) % 3][at : at + n // 2]
    width = chance.choice((7, 60, 10000))
    end = chance.choice(("\n", "\r\n"))
    print(f">strain{which + 1}:{i} more words", *(read[j : j + width] for j in range(0, len(read), width)), sep=end, end=end)
END
for k in 1 4 11 16; do
  brute reads $k file 1 odd.fa strain?.fa >want.tsv
  brute table $k file strain?.fa >want.table
  agrees "strains, k = $k" want.tsv odd.fa strain?.fa --k $k
  counted "strains, k = $k" want.table
  agrees "strains, k = $k, hive" want.tsv odd.fa strain?.fa --k $k --design hive
  counted "strains, k = $k, hive" want.table
  agrees "strains, k = $k, batches of 7" want.tsv odd.fa strain?.fa --k $k --batch 7
  agrees "strains, k = $k, records" want.tsv odd.fa joined.fa --k $k --by record
  counted "strains, k = $k, records" want.table
done
read -r reads right wrong silent < <(brute origins got.tsv)
if [ "$(fact ties)" -gt 0 ] && [ "$(fact no_votes)" -gt 0 ] && [ "$right" -gt $((4 * wrong)) ]; then
  pass "of strains that differ by 6%: $right of $reads right, $wrong wrong, $silent unclassified; $(fact ties) ties"
else fail 'ties, and reads without votes' "ties $(fact ties), none $(fact no_votes), right $right, wrong $wrong"; fi
for design in hkv hive; do
  agrees "kernels of $design" want.tsv odd.fa strain?.fa --design $design --backend host
  counted "kernels of $design" want.table
done
agrees 'kernels, all records in one batch' want.tsv odd.fa joined.fa --by record --backend host

virus=${HEDDLE_DATA:-}/lambda_virus.fa packed=${HEDDLE_DATA:-}/lambda_reads_1.fq.zst
if ! [ -r "$virus" ] || ! [ -r "$packed" ]; then skip 'a real genome and its reads' 'lambda_virus.fa, lambda_reads_1.fq.zst are not in HEDDLE_DATA'
elif ! command -v zstd >/dev/null; then skip 'a real genome and its reads' 'no zstd'
else
  zstd -qdc "$packed" >real.fq
  cp "$virus" lambda_virus.fa
  for k in 31 16; do
    brute reads $k file 2 real.fq lambda_virus.fa a.fa b.fa >want.tsv
    agrees "lambda's reads, k = $k" want.tsv "$packed" "$virus" a.fa b.fa --k $k --min-votes 2
  done
  share=$(awk -F'\t' 'NR > 1 { all++; n += $2 == "lambda_virus"; other += $2 != "" && $2 != "lambda_virus" } END { print n / all, other + 0 }' got.tsv)
  if awk -v share="$share" 'BEGIN { split(share, x, " "); exit !(x[1] > 0.95 && x[2] == 0) }'; then pass "the virus has ${share% *} of its reads, and no other genome has one"
  else fail 'the virus has its reads' "share, and reads of others: $share"; fi
fi

# ---- Tables that are kept --------------------------------------------------------------------------------------------

brute reads 12 file 3 odd.fa strain?.fa >want.tsv
brute table 12 file strain?.fa >want.table
for design in hkv hive; do
  classify --build $design.hd strain?.fa --k 12 --design $design
  if [ $code = 0 ]; then counted "a table of $design that is kept" want.table; else fail "a table of $design is kept" "exit $code"; fi
  agrees "a table of $design that was kept" want.tsv --with $design.hd odd.fa --min-votes 3
  counted "and its k-mers" want.table
  agrees "by kernels of $design" want.tsv --with $design.hd odd.fa --min-votes 3 --backend host
done
classify --build records.hd joined.fa --by record --k 12
agrees 'a table of records' want.tsv --with records.hd odd.fa --min-votes 3
if [ "$(fact by) $(fact k)" = 'record 12' ]; then pass 'K and what a taxon is are kept'; else fail 'K and what a taxon is are kept' "$(fact by) $(fact k)"; fi
"$HEDDLE" classify --with hkv.hd odd.fa --min-votes 3 --reads - >got.tsv 2>err
try 'lines on standard output, and no report' cmp want.tsv got.tsv
classify --with hkv.hd odd.fa --min-votes 3 --reads got.tsv.gz
if gzip -dc got.tsv.gz | cmp -s - want.tsv; then pass 'compressed lines'; else fail 'compressed lines' ''; fi

# bad NAME CODE PATTERN ARGUMENT...
bad() {
  local name=$1 want=$2 pattern=$3
  shift 3
  classify "$@"
  if [ $code = "$want" ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$pattern" err && ! [ -s out ]; then pass "$name: exit $want"
  else fail "$name: exit $want" "exit $code"
  fi
}
# pair NAME CODE PATTERN: of the files pair.hd and pair.hd.taxa.
pair() { bad "$1" "$2" "$3" --with pair.hd odd.fa; }
whole() { cp hkv.hd pair.hd && cp hkv.hd.taxa pair.hd.taxa; }
whole && cp hive.hd.taxa pair.hd.taxa
pair 'names of another table' 3 'does not belong'
whole && sed -i 's/"strain1"/"strain7"/' pair.hd.taxa
pair 'another name' 3 'does not belong'
whole && sed -i 's/"k": 12/"k": 11/' pair.hd.taxa
pair 'another K' 3 'does not belong'
whole && sed -i 's/"k": 12/"k": 32/' pair.hd.taxa
pair 'no K' 3 'pair.hd.taxa: k:'
whole && sed -i '/"pair"/d' pair.hd.taxa
pair 'no sum' 3 'does not belong'
whole && head -c 60 hkv.hd.taxa >pair.hd.taxa
pair 'names that are cut off' 3 'pair.hd.taxa: line'
whole && echo '[]' >pair.hd.taxa
pair 'no names' 3 'pair.hd.taxa: schema'
whole && rm pair.hd.taxa
pair 'names that are missing' 2 'pair.hd.taxa: No such file'
whole && rm pair.hd
pair 'a table that is missing' 2 'pair.hd'
whole && head -c 3000 hkv.hd >pair.hd
pair 'a table that is cut off' 3 'pair.hd'
whole && "$HEDDLE" kmer joined.fa 12 -o pair.hd >/dev/null
pair 'a table of counts' 3 'does not belong'
whole && printf '\377' | dd of=pair.hd bs=1 seek=90000 conv=notrunc 2>/dev/null
pair 'a damaged table' 3 'pair.hd'
# as many k-mers, values and slots: only the keys differ
printf '>x\nACGTTGCAAT\n' >x.fa && printf '>x\nGGGTTGCAAC\n' >y.fa
mkdir one two
classify --build one/x.hd x.fa --k 10 && cp y.fa one && classify --build two/x.hd one/y.fa --k 10
cp one/x.hd pair.hd && sed 's/"x"/"y"/' one/x.hd.taxa >renamed && cp two/x.hd.taxa pair.hd.taxa
pair 'one k-mer in place of another' 3 'does not belong'

# ---- Damaged input, wrong command lines ------------------------------------------------------------------------------

printf 'ACGT\n' >none.fa
printf '>short\nACGT\n' >short.fa
printf '>\nACGTACGT\n' >unnamed.fa
printf '@good\nACGTACGTAC\n+\nIIIIIIIIII\n@bad\nACGTACGTAC\n+\nIII\n@lost\nACGTACGTAC\n+\nIIIIIIIIII\n@last\nACGTACGTAC\n+\nIIIIIIIIII\n' >damaged.fq
cp a.fa kept.fa
mkdir folder && cp b.fa folder/a.fa
bad 'no FASTA'                   3 'none.fa: byte 0' none.fa a.fa
bad 'a reference that is none'   3 'none.fa: byte 0' sample.fq none.fa
bad 'an empty file'              3 'byte 0' /dev/null a.fa
printf '>s\nACGTAC\n' >shorter.fa
bad 'references without a k-mer' 3 'no REFERENCE has a k-mer of 16' sample.fq short.fa shorter.fa
bad 'damaged reads'              3 'damaged.fq: byte' damaged.fq a.fa --k 8
bad 'a record without a name'    3 'unnamed.fa: byte 0: a record' sample.fq unnamed.fa --k 8 --by record
bad 'two taxa of one name'       2 'called a: a.fa, byte 0, and folder/a.fa, byte 0' sample.fq a.fa folder/a.fa
bad 'two records of one name'    2 'called strain1: joined.fa, byte [0-9]*, and strain1.fa, byte 0' odd.fa joined.fa strain1.fa --by record
bad 'no such file'               2 absent absent.fa a.fa
bad 'no such reference'          2 absent sample.fq a.fa absent.fa
bad 'no reference'               2 REFERENCE sample.fq
bad 'no words'                   2 READS
bad 'K of 32'                    2 '--k' sample.fq a.fa --k 32
bad 'K of 17 in hive'            2 'K: 17' sample.fq a.fa --k 17 --design hive
bad 'an unknown design'          2 'nearest: hive' sample.fq a.fa --design hives
bad 'an unknown backend'         2 'nearest: host' sample.fq a.fa --backend hots
bad 'an unknown taxon'           2 'nearest: record' sample.fq a.fa --by records
bad 'build and with'             2 '--with' --build x.hd --with hkv.hd a.fa
bad 'build with reads'           2 '--reads' --build x.hd a.fa --reads x.tsv
bad 'K of a table that is kept'  2 '--k' --with hkv.hd odd.fa --k 12
bad 'references of one'          2 REFERENCE --with hkv.hd odd.fa a.fa
bad 'a table over a reference'   2 '--build.*what is read' --build kept.fa kept.fa
bad 'lines over the reads'       2 '--reads.*what is read' kept.fa a.fa --reads kept.fa
bad 'lines over the names'       2 '--reads.*what is read' --with hkv.hd odd.fa --reads hkv.hd.taxa
bad 'lines nowhere'              4 '--reads' sample.fq a.fa --reads none/x.tsv
bad 'a table nowhere'            4 '--build' --build none/x.hd a.fa
bad 'a table above memory'       2 '--capacity' sample.fq a.fa --capacity 200000Gi
bad 'a table too small'          1 '--capacity' sample.fq "${references[@]}" --capacity 1000
bad 'a table of hive too small'  1 '--capacity' --build small.hd a.fa --design hive --capacity 1000
if [ -e small.hd ] || [ -e small.hd.taxa ]; then fail 'and nothing is kept' ''; else pass 'and nothing is kept'; fi
try 'what would be replaced is whole' cmp a.fa kept.fa
classify damaged.fq damaged.fq --k 8 --lenient --reads got.tsv
if [ $code = 0 ] && [ "$(cut -f1 got.tsv | paste -sd' ')" = 'read good last' ] && [ "$(fact reads_skipped)" = 1 ]; then
  pass 'damaged reads are left out'
else fail 'damaged reads are left out' "exit $code, skipped $(fact reads_skipped): $(cut -f1 got.tsv | paste -sd' ')"; fi
# a line of 20 MB, as a header and as a read
"$python" -c 'print(">" + "x" * 10000000 + "\n" + "".join(open("a.fa").read().split("\n")[1:]) * 100)' >long.fa
classify long.fa a.fa --reads got.tsv
if [ $code = 0 ] && [ "$(wc -l <got.tsv)" = 2 ] && [ "$(tail -n 1 got.tsv | cut -f1 | wc -c)" = 256 ] && [ "$(tail -n 1 got.tsv | cut -f2)" = a ]
then pass 'long lines: the name is cut'; else fail 'long lines' "exit $code"; fi
# said WORD...: the last run ended well, and its one line on standard error has the words.
said() {
  if [ $code = 0 ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$1" err; then pass "$1"; else fail "$1" "exit $code"; fi
}
for reads in short.fa short.fq; do
  printf '@r\nNNNNNNNNNNNNNNNNNNNNNNNN\n+\nIIIIIIIIIIIIIIIIIIIIIIII\n@s\n\n+\n\n' >short.fq
  classify $reads a.fa
  if [ $code = 0 ] && [ "$(fact reads) $(fact no_votes) $(fact looked_up)" = "$(grep -c '^[>@]' $reads) $(grep -c '^[>@]' $reads) 0" ]
  then pass "$reads: reads without a k-mer have no votes"; else fail "$reads: reads without a k-mer" "exit $code"; fi
done
classify sample.fq a.fa short.fa
said '1 REFERENCE without a k-mer of 16 bases, short.fa first'
classify sample.fq a.fa sample.fq
said '1 REFERENCE in FASTQ, sample.fq first'
rm -f near.hd*
classify --build near.hd a.fa b.fa --design ovs --set segment=4Ki && classify sample.fq a.fa b.fa --reads want.tsv &&
  classify --with near.hd sample.fq --near 64Ki --reads got.tsv
if [ $code = 0 ] && cmp -s want.tsv got.tsv; then pass '--with and --near'; else fail '--with and --near' "exit $code"; fi

# ---- Killed while a pair of files is replaced --------------------------------------------------------------------------

# A library that ends the process before the N-th call that changes files: each leaves the old pair or the new one.
cat >killer.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
static void count(void)
{
    static int calls;
    const char *at = getenv("KILL_AT");
    if (at && ++calls == atoi(at)) raise(SIGKILL);
}
#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
int rename(const char *from, const char *to) { return count(), REAL(rename)(from, to); }
int unlink(const char *path) { return count(), REAL(unlink)(path); }
int fsync(int fd) { return count(), REAL(fsync)(fd); }
ssize_t write(int fd, const void *p, size_t n) { return fd > 2 ? count() : (void)0, REAL(write)(fd, p, n); }
ssize_t pwrite(int fd, const void *p, size_t n, off_t at) { return count(), REAL(pwrite)(fd, p, n, at); }
int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    if (flags & O_CREAT) count();
    return REAL(open)(path, flags, mode);
}
END
if [ -n "${HD_SANITIZE:-}" ]; then skip 'a pair that is replaced' 'a sanitizer cannot be preloaded'
elif ! ${CC:-cc} -shared -fPIC -o killer.so killer.c -ldl 2>why; then skip 'a pair that is replaced' "$(head -n 1 why)"
else
  mkdir old new
  printf '>x\nACGTTGCAATGGCA\n' >x.fa && printf '>y\nGGGTTGCAACGTTA\n>z\nTTTTTTTTTTTTTT\n' >y.fa
  "$HEDDLE" classify --build old/p.hd x.fa --k 10 >out && "$HEDDLE" classify --build new/p.hd y.fa --k 10 --by record >out
  whole() { "$HEDDLE" classify --with p.hd "$@" --csv 2>why | cut -d, -f1-3 | LC_ALL=C sort | paste -sd' '; }
  cp old/* . && before=$(whole x.fa) && cp new/* . && after=$(whole x.fa)
  killed=0 first=0 second=0 wrong=''
  cp old/* .
  for at in $(seq 1 200); do
    [ $((at % 2)) = 1 ] || cp old/* . # else what the last kill left is replaced
    KILL_AT=$at LD_PRELOAD=./killer.so "$HEDDLE" classify --build p.hd y.fa --k 10 --by record >out 2>err
    ended=$?
    case $(whole x.fa) in
    "$before") first=$((first + 1)) ;;
    "$after") second=$((second + 1)) ;;
    *) wrong="$wrong; call $at: $(cat why)" ;;
    esac
    rm -f p.hd.*.part p.hd.*.new*
    [ $ended = 137 ] || break
    killed=$((killed + 1))
  done
  if [ -z "$wrong" ] && [ $ended = 0 ] && [ $first -ge 4 ] && [ $second -ge 3 ] && ! grep -q '"before"' p.hd.taxa
  then pass "$killed kills left the old pair $first times, and else the new one"
  else fail 'a pair that is replaced' "exit $ended, $killed kills, old $first, new $second$wrong"; fi
fi
find . -name '*.part' | none 'no unfinished file is left'

finish
