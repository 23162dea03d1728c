# SPDX-License-Identifier: Apache-2.0
#
# t_museum.sh - tests of the judges by known bugs: every bug of judge/museum/bugs is found, by one of the judges that the bug
# names, after few tries. Without the judge that it needs a bug survives, and every judge is needed by a bug. Without a
# bug the same searches find nothing. With HEDDLE_SAME=FOLDER the findings are written there, and matrix.sh compares
# them between builds: a seed has the same meaning in each.
. "${top_srcdir:?}/tests/cases.sh"
museum=$top_builddir/judge/museum/heddle-museum
scale=${HEDDLE_TEST_SCALE:-1}
fixtures=3 calm=1 # of searches that find nothing, with a bug and without one
[[ $scale == */* ]] && fixtures=2 || fixtures=$((fixtures * scale)) calm=$scale

# ---- All of them -----------------------------------------------------------------------------------------------------

"$museum" >"$work/all" 2>"$work/err"
words=$work/err
{ [ "$(cut -f1 "$work/all" | sort -u | wc -l)" -ge 80 ] || echo "only $(cut -f1 "$work/all" | sort -u | wc -l)"; } | none "the museum has its bugs"
awk -F'\t' '$5 != "yes" { print $1 ": " $5 " after " $10 " tries: " $16 }' "$work/all" | none "all bugs are found"
awk -F'\t' '$5 == "yes" && index(" " $7 " ", " " $6 " ") == 0 { print $1 ": found by " $6 ", and not by " $7 ": " $16 }' "$work/all" | none "they are found by those who should find them"
awk -F'\t' '$10 > 10000 { print $1 ": " $10 " tries" }' "$work/all" | none "each is found within 10,000 tries"
tried bugs "$(cut -f1 "$work/all" | sort -u | wc -l)" "bugs of the museum, all found"
[ -z "${HEDDLE_SAME:-}" ] || cut -f1,4-13 "$work/all" >"$HEDDLE_SAME/museum"

# ---- What each judge is worth ----------------------------------------------------------------------------------------

"$museum" judges | cut -f1 >"$work/judges"
while read -r judge; do
  mapfile -t names < <(awk -F'\t' -v j=" $judge " 'index(" " $8 " ", j) { print $1 }' "$work/all" | sort -u)
  if [ ${#names[@]} = 0 ]; then fail "without $judge something survives" "no bug needs it"; continue; fi
  "$museum" "without=$judge" "fixtures=$fixtures" "${names[@]}" 2>"$work/err" | awk -F'\t' '$5 != "no" { print $1 ": " $5 ", by " $6 ": " $16 }' |
    none "without $judge: ${names[*]}"
done <"$work/judges"

# ---- Nothing is found where nothing is -------------------------------------------------------------------------------

# Where every sixth bug would be, in long runs every one.
mapfile -t names < <(cut -f1 "$work/all" | sort -u | awk -v long="${HEDDLE_TEST_LONG:-}" 'long != "" || NR % 6 == 1')
"$museum" sound "fixtures=$calm" "${names[@]}" >"$work/sound" 2>"$work/err"
awk -F'\t' '$5 != "no" { print $1 ": " $5 ", by " $6 ": " $16 }' "$work/sound" | none "without a bug nothing is found"
tried schedules "$(awk -F'\t' '$4 ~ /^sched/ { n += $10 } END { print n + 0 }' "$work/sound")" "where the museum's bugs show, without a bug: nothing found"

# ---- The command -----------------------------------------------------------------------------------------------------

code() { "$@" >"$work/out" 2>"$work/err"; echo $?; }
words=$work/out
{ [ "$(code "$HEDDLE" museum no_release lfu_wraps)" = 0 ] || echo "exit code $?"; } | none "heddle museum: found, exit 0"
{ [ "$(code "$HEDDLE" museum --without races --fixtures 2 no_release lfu_wraps)" = 1 ] && grep -q '^survived  *1$' "$work/out" || echo 'one should survive'; } | none "heddle museum: a survivor is exit 1"
{ [ "$(code "$HEDDLE" museum --without race)" = 2 ] && grep -q 'nearest: races' "$work/err" || cat "$work/err"; } | none "heddle museum: an unknown judge"
{ [ "$(code "$HEDDLE" museum no_relase)" = 2 ] && grep -q 'nearest: no_release' "$work/err" || cat "$work/err"; } | none "heddle museum: an unknown bug"

if ! command -v python3 >/dev/null; then skip "heddle museum: on a terminal, how much is left" "python3 is missing"
else
  { left_of "$HEDDLE" museum --sound --fixtures 20 lfu_wraps last_unread hive_stash_brims no_release hkv_split_half | grep -qE 'museum: .*looks.*%.* left' || echo 'no share'; } |
    none "heddle museum: on a terminal, how much is left"
fi

# ---- A bug whose text has gone ---------------------------------------------------------------------------------------

mkdir -p "$work/top/ref" "$work/to"
printf 'int one = 1;\nint two = 2;\n' >"$work/top/ref/some.c"
bug() { printf 'bug b\nfrom f\nlook l\nby y\nin ref/some.c\n<<<\n%s\n===\n%s\n>>>\n' "$2" "$3" >"$work/$1.bug"; }
bug first 'one = 1;' 'one = BUG ? 7 : 1; int
more;'
bug gone 'three = 3;' 'three = BUG;'
bug twice 'int ' 'long '
alter() { awk -v top="$work/top" -v to="$work/to" -v files=ref/some.c -f "$top_srcdir/judge/museum/alter.awk" "$@"; }
alter "$work/first.bug" "$work/gone.bug" "$work/twice.bug" 2>"$work/err"
diff - "$work/to/ref/some.c" <<'END' | none "a bug is put in behind its number, and lines stay where they were"
#line 1 "ref/some.c"
int one = museum_is(1) ? 7 : 1; int more;
int two = 2;
END
grep -o '"[^"]*" }' "$work/to/bugs.inc" | tr -d '"} ' | paste -sd ' ' | grep -vx ' ref/some.c ref/some.c' | none "what is not there, or there twice, is told of"
printf 'bug b\nnonsense\n' >"$work/bad.bug"
{ ! alter "$work/bad.bug" 2>"$work/err" && grep -q 'bad.bug:2' "$work/err" || echo "it was taken: $(cat "$work/err")"; } | none "a line that is not understood is refused"

finish
