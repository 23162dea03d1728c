# SPDX-License-Identifier: Apache-2.0
#
# alter.awk - puts the museum's bugs into copies of the sources.
#
#     awk -v top=SOURCE -v to=FOLDER -v files=FILES -f alter.awk BUGS
#
# BUGS (*.bug) are read in order; FILES are the sources that the museum compiles. Each of these, and each header that a
# bug changes, gets a copy below FOLDER with all bugs in it, each with a number that switches it on:
#
#     in gpu/hkv/decide.h
#     <<<
#             simt_strlx_u8(v->digest + o->entry, HKV_NO_DIGEST);
#     ===
#             simt_strlx_u8(v->digest + o->entry, BUG ? o->digest : HKV_NO_DIGEST);
#     >>>
#
# The text above === must be in the file exactly once. It is replaced by the text below, in which BUG is
# museum_is(NUMBER). A copy keeps the line numbers of its original, so messages name the places of the original. If the
# text of a bug is no longer in the file, or is there twice, the copy does not change, and the table (FOLDER/bugs.inc)
# marks the bug as lost: then the museum reports it, not the compiler.

function fail(what) {
    print "museum: " FILENAME ":" FNR ": " what >"/dev/stderr"
    failed = 1
    exit 1
}

function read_file(path,    text, line) {
    text = ""
    while ((getline line <(top "/" path)) > 0) text = text line "\n"
    close(top "/" path)
    return text
}

function count(text, what,    n, at) {
    for (n = 0; (at = index(text, what)) > 0; text = substr(text, at + length(what))) n++
    return n
}

function lines(text) { return gsub(/\n/, "\n", text) }

# As many lines as there were: what is longer goes on in its last line, what is shorter gets empty ones.
function fitted(new, n,    head, at) {
    head = ""
    while (n > 0 && (at = index(new, "\n")) > 0) {
        head = head substr(new, 1, at)
        new = substr(new, at + 1)
        n--
    }
    gsub(/\n/, " ", new)
    while (n-- > 0) new = new "\n"
    return head new
}

# Each line of the text with `mark` before it.
function marked(mark, text) {
    gsub(/\n/, "\n" mark, text)
    return mark text "\n"
}

function put(    at, text, ended) {
    sub(/\n$/, "", old)
    sub(/\n$/, "", new)
    change[bugs] = change[bugs] "in " file "\n" marked("- ", old) marked("+ ", new)
    if (!(file in copy)) copy[file] = read_file(file)
    text = copy[file]
    if (count(text, old) != 1) {
        lost[bugs] = lost[bugs] (lost[bugs] ? ", " : "") file
        return
    }
    at = index(text, old)
    copy[file] = substr(text, 1, at - 1) fitted(numbered(new), lines(old)) substr(text, at + length(old))
}

# BUG as a word, wherever it stands.
function numbered(text,    out, at, before, after) {
    out = ""
    while ((at = index(text, "BUG")) > 0) {
        before = at > 1 ? substr(text, at - 1, 1) : " "
        after = substr(text, at + 3, 1)
        out = out substr(text, 1, at - 1) (before after ~ /[A-Za-z0-9_]/ ? "BUG" : "museum_is(" bugs ")")
        text = substr(text, at + 3)
    }
    return out text
}

function quoted(text) {
    if (text ~ /["\\]/) fail("a quotation mark or a backslash: " text)
    return "\"" text "\""
}

# Any text as a string of C.
function string(text) {
    gsub(/["\\]/, "\\\\&", text)
    gsub(/\n/, "\\n", text)
    return "\"" text "\""
}

# The copy, when it is another one than is there.
function write(path, text,    old, line, where) {
    where = to "/" path
    old = ""
    while ((getline line <where) > 0) old = old line "\n"
    close(where)
    if (old == text) return
    system("mkdir -p \"$(dirname '" where "')\"")
    printf "%s", text >where
    close(where)
}

FNR == 1 {
    bugs++
    name[bugs] = FILENAME
    sub(/^.*\//, "", name[bugs])
    sub(/\.bug$/, "", name[bugs])
    part = ""
}
part == "old" && /^===$/ { part = "new"; next }
part == "new" && /^>>>$/ { part = ""; put(); next }
part == "old" { old = old $0 "\n"; next }
part == "new" { new = new $0 "\n"; next }
/^#/ || /^ *$/ { next }
/^in / { file = $2; next }
/^<<<$/ { part = "old"; old = new = ""; next }
/^(bug|from|look|by|needs) / {
    field = $1
    text = $0
    sub(/^[a-z]+ +/, "", text)
    said[bugs, field] = said[bugs, field] (said[bugs, field] == "" ? "" : "\n") text
    next
}
{ fail("not understood: " $0) }

END {
    if (failed) exit 1
    if (part != "") fail("a text without an end")
    table = ""
    for (b = 1; b <= bugs; b++) {
        split("bug from look by", field_name, " ")
        for (f = 1; f <= 4; f++) if (said[b, field_name[f]] == "") { print "museum: " name[b] ": no '" field_name[f] "'" >"/dev/stderr"; exit 1 }
        n = split(said[b, "look"], look, "\n")
        for (l = 1; l <= n; l++)
            table = table "{ " b ", " quoted(name[b]) ", " quoted(said[b, "bug"]) ", " quoted(said[b, "from"]) ",\n  " quoted(look[l]) ", " quoted(said[b, "by"]) ", " quoted(said[b, "needs"]) ",\n  " string(change[b]) ", " quoted(lost[b]) " },\n"
    }
    n = split(files, wanted, " ")
    for (f = 1; f <= n; f++) if (!(wanted[f] in copy)) copy[wanted[f]] = read_file(wanted[f])
    for (file in copy) write(file, "#line 1 \"" file "\"\n" copy[file])
    write("bugs.inc", table)
}
