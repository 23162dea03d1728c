# SPDX-License-Identifier: Apache-2.0
#
# t_explain_cli.sh - the stories of `heddle explain`, played by tests/stories.py: what a story shows after each step is what
# the rows of the report say.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"

python=$(command -v python3)
if [ -z "$python" ]; then
  skip "stories of heddle explain" "python3 is missing"
else
  "$python" "$top_srcdir/tests/stories.py" "$HEDDLE" "$work" >"$work/said" 2>"$work/words" || fail "stories.py" "$(tail -n 1 "$work/words")"
  while IFS= read -r line; do
    case $line in
    'ok '*) pass "${line#ok }" ;;
    *) fail "${line%%:*}" "${line#*: }" ;;
    esac
  done <"$work/said"
fi
finish
