# SPDX-License-Identifier: Apache-2.0
#
# t_reports.sh - every count of sim, sweep, trace, range, kmer and classify against models in plain Python
# (report_models.py), on random inputs and options, and on files that must be refused. HEDDLE_TEST_SCALE draws more.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
python=$(command -v python3)
if [ -z "$python" ]; then
  skip 'reports against models' 'python3 is missing'
  finish
fi
cd "$work" || exit 1
count=$(awk -v scale="${HEDDLE_TEST_SCALE:-1}" 'BEGIN { split(scale "/1", part, "/"); print int(12 * part[1] / part[2]) + 1 }')
seed=1
if guard "$python" "$top_srcdir/tests/report_models.py" "$HEDDLE" $count "$seed" >said 2>&1; then pass "$(tail -n 1 said) reports are as their models have them"
else words=said fail 'reports against models' "seed $seed"; fi
tried reports "$(tail -n 1 said)" 'reports of the command, each count of which a model in Python has too'
finish
