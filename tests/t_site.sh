# SPDX-License-Identifier: Apache-2.0
#
# t_site.sh - the site that `make html` makes: its files (tests/site_check.py), and what it refuses to make. With
# Chromium also how its pages behave (tests/pages/check_site.py). Skipped where cmark-gfm or python3 is missing.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
python=$(command -v python3)
if [ -z "$python" ] || ! command -v "${CMARK:-cmark-gfm}" >/dev/null; then
  echo "1..0 # SKIP cmark-gfm or python3 is missing"
  exit 77
fi
site=$work/site
make_site() { "$python" -B "$top_srcdir/build-aux/site.py" "$1" "$top_builddir" "$2"; }
check() { "$python" -B "$top_srcdir/tests/site_check.py" "$1" 2>/dev/null; }

try "the site is made" make_site "$top_srcdir" "$site"
check "$site" | none "pages are well formed, links and anchors lead somewhere, nothing comes from elsewhere"
pages=$(find "$site" -name '*.html' | wc -l)
{ [ "$pages" -ge 40 ] || echo "$pages pages"; } | none "all pages are there"
find "$site" -name '*.html' -size +1500000c | none "no page is larger than 1.5 MB"
bytes=$(find "$site" -type f -exec cat {} + | gzip -9 | wc -c)
{ [ "$bytes" -le 1200000 ] || echo "$bytes bytes"; } | none "the site is small enough for the package"

make_site "$top_srcdir" "$work/again" >"$work/out" 2>&1
diff -r "$site" "$work/again" | none "the same tree makes the same site"

# ---- Chapters ---------------------------------------------------------------------------------------------

for chapter in "$top_srcdir"/doc/chapters/[0-9]*.md; do
  name=${chapter##*/}
  words=$(sed '/^```/,/^```$/d; /^<!--/d; /^|/d' "$chapter" | wc -w)
  [ "$words" -ge 400 ] && [ "$words" -le 900 ] || echo "$name: $words words"
  [ "$(grep -cE '^<!-- (story|slider) -->$' "$chapter")" -ge 1 ] || echo "$name: no story"
  [ "$(grep -cE '^(## Question|<details><summary>Answer</summary>)$' "$chapter")" = 2 ] ||
    echo "$name: no question with an answer"
done | none "a chapter has 400 to 900 words, a story, and a question with its answer"

# ---- The checks can fail ----------------------------------------------------------------------------------

# damaged NAME FILE SED: a copy of the site with a mistake in it; the checker must say something.
damaged() {
  rm -rf "$work/damaged"
  cp -r "$site" "$work/damaged"
  sed -i -E "$3" "$work/damaged/$2"
  cmp -s "$site/$2" "$work/damaged/$2" && { fail "the checker finds $1" "the file is as it was"; return; }
  if [ -n "$(check "$work/damaged")" ]; then pass "the checker finds $1"; else fail "the checker finds $1"; fi
}
damaged "a link to nothing" index.html '0,/href="doc\/glossary.html"/s//href="doc\/glossaries.html"/'
damaged "a lost anchor" doc/contract-hkv.html 's/<h2 id="pins">/<h2>/'
damaged "an unclosed element" doc/api.html '0,/<\/p>/s///'
damaged "a second h1" doc/api.html 's/<h2 /<h1 /'
damaged "a script from elsewhere" index.html 's/src="site.js"/src="https:\/\/example.com\/site.js"/'
damaged "a style in an element" index.html '0,/<article>/s//<article style="color: red">/'
damaged "an image without a text" doc/chapters/1-digest.html 's/ alt="[^"]*"//'
damaged "a control without a label" search.html 's/<label for="nav-words">/<label>/'
damaged "a step that changes no cell" doc/chapters/3-evict.html '0,/"sets":\[\[0,/s//"sets":[[99,/'
damaged "a page without its story" doc/chapters/3-evict.html 's/<script type="application\/json"/<script type="text\/json"/'
damaged "a figure that a plot's picture has not" index.html '0,/<td class="number">12.1</s//<td class="number">1.21</'
damaged "a plot without its picture" doc/chapters/9-hive.html '0,/src="data:image\/svg[^"]*"/s//src="data:image\/svg+xml;base64,"/'
damaged "a table that was not converted" bench/lab/hive.html '0,/<\/p>/s// | a | b | |---|---| | c | d |<\/p>/'
damaged "a word that the search lost" search-index.js 's/[Ll]ibFuzzer/libfuzz/g'

# A tree with a mistake makes no site.
refused() { # NAME SED...
  rm -rf "$work/tree"
  mkdir "$work/tree"
  ln -s "$top_srcdir"/* "$top_srcdir/.github" "$work/tree/"
  rm "$work/tree/doc"
  cp -rs "$top_srcdir/doc" "$work/tree/doc"
  rm "$work/tree/doc/chapters/3-evict.md"
  sed -E "$2" "$top_srcdir/doc/chapters/3-evict.md" >"$work/tree/doc/chapters/3-evict.md"
  if make_site "$work/tree" "$work/none" >"$work/out" 2>&1; then fail "no site with $1" "it was made"
  else sed '/^site.py: /,$d' "$work/out" | none "no site with $1"; fi
}
refused "a link to nothing" 's/\(\.\.\/concurrency\.md\)/(..\/concurrent.md)/'
refused "a story that fails" 's/^heddle explain .*/heddle explain hkv.insert_or_assign.no_such_kernel/'
refused "a program that is not heddle" 's/^heddle explain .*/cat \/etc\/passwd/'
CMARK=$work/no-such-cmark make_site "$top_srcdir" "$work/none" >"$work/out" 2>&1
grep -v 'no-such-cmark is missing' "$work/out" | none "what is missing is named"

# ---- In a browser -----------------------------------------------------------------------------------------

if ! PYTHONPATH=$top_srcdir/tests/pages "$python" -B -c 'import browser, sys; sys.exit(not browser.find())'; then
  skip "pages behave in a browser" "Chromium is not installed (Debian: chromium)"
else
  "$python" -B "$top_srcdir/tests/pages/run.py" "$site" site >"$work/browser" 2>&1 || echo "it failed" >>"$work/browser"
  grep -vE '^ok|^1\.\.5$' "$work/browser" | none "pages behave in a browser"
  [ "$(grep -c '^ok' "$work/browser")" = 5 ] || fail "all checks ran in the browser" "$(cat "$work/browser")"
fi
finish
