# SPDX-License-Identifier: Apache-2.0
#
# t_python.sh - the package heddle: builds the wheel, unpacks it, and runs the tests of tests/python/ with it, in the
# Python that has most of the libraries that they use. The wheel is in dist/ of the build folder.
#
# HEDDLE_PYTHON: another Python to run the tests with. HEDDLE_TEST_ONLY: one module, such as test_arrays.
set -u
: "${top_srcdir:?} ${top_builddir:?}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! said=$("${MAKE:-make}" -s -C "$top_builddir" wheel 2>&1); then
  case $said in
  *"headers is missing"*) echo "1..0 # SKIP $said"; exit 77 ;;
  esac
  printf '%s\n' "$said"
  exit 1
fi
wheel=$(ls "$top_builddir"/dist/heddle-*.whl)

# The first of these that has NumPy and Hypothesis, else the one with NumPy, else any from 3.11 on.
best() {
  local python
  for modules in numpy,hypothesis numpy sys; do
    for python in ${HEDDLE_PYTHON:+"$HEDDLE_PYTHON"} python3 /usr/bin/python3; do
      "$python" -c "import sys, $modules; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && echo "$python" && return
    done
  done
}
python=$(best)
[ -n "$python" ] || { echo "1..0 # SKIP no Python from 3.11 on"; exit 77; }
"$python" -m zipfile -e "$wheel" "$work/site" && chmod +x "$work/site/heddle/_bin/heddle" || exit 1
export PYTHONPATH=$work/site:$top_srcdir/tests/python PYTHONDONTWRITEBYTECODE=1 HEDDLE_WHEEL=$wheel
unset HEDDLE
cd "$work" || exit 1
for file in "$top_srcdir"/tests/python/test_*.py; do
  module=$(basename "$file" .py)
  [ -z "${HEDDLE_TEST_ONLY:-}" ] || [ "$HEDDLE_TEST_ONLY" = "$module" ] || continue
  "$python" -X faulthandler "$top_srcdir/tests/python/tap.py" "$module" || failed=1
done
exit "${failed:-0}"
