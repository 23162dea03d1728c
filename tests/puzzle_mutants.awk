# SPDX-License-Identifier: Apache-2.0
#
# puzzle_mutants.awk - writes the mutants of a model answer: awk -v out=FOLDER -f puzzle_mutants.awk MUTATIONS MUTANTS MODEL
# or its wrong answers: awk -v out=FOLDER -f puzzle_mutants.awk WRONG MODEL
#
# MUTATIONS (learn/puzzles/mutations.txt) has a line `"FROM" => "TO"` for each change that is made at every place of FROM, one
# mutant for each place. MUTANTS (learn/puzzles/NAME/mutants.txt) has a line for each further mutant,
#     KIND | CHECK | WORDS | FROM => TO ;; FROM => TO ...     CHECK rejects it, and its sentence has WORDS; \n: a new line
# and for each mutant of MUTATIONS that is as right as the model: `same | LINE | WHY`, where LINE is the changed one. One
# that is wrong on a GPU, and right in all that the simulator does, has `unseen`.
# FOLDER gets K.c and K.want, "KIND|CHECK|WORDS"; the check of a mutant of MUTATIONS is "*".
# WRONG (learn/puzzles/NAME/wrong.txt) has a line `NAME | CHECK | WORDS` for each wrong answer, and below it an indented line
# `FROM => TO` for each change. FOLDER gets wrong_NAME.c and wrong_NAME.want.

function put(text, want, name) {
  printf "%s", text > (out "/" name ".c")
  print want > (out "/" name ".want")
  close(out "/" name ".c")
  close(out "/" name ".want")
}
function plain(text) { gsub(/\\n/, "\n", text); return text }
function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
function wrong(what) { print what > "/dev/stderr"; failed = 1 }

FNR == 1 { file++; following = ARGC - 1 - file }
following == 2 {
  at = index($0, "\" => \"")
  from[++mutations] = substr($0, 2, at - 2)
  to[mutations] = substr($0, at + 6, length($0) - at - 6)
}
following == 1 && $1 ~ /^(same|unseen)$/ { split($0, part, " \\| "); same[trimmed(part[2])] = 1; next }
following == 1 && /^    / {
  list[listed] = list[listed] (listed in named ? " ;; " : " | ") substr($0, 5)
  named[listed] = 1
  next
}
following == 1 && $1 != "none" { list[++listed] = $0 }
following == 0 { model = model $0 "\n" }

END {
  for (m = 1; m <= listed; m++) {
    split(list[m], part, " \\| ")
    changes = substr(list[m], length(part[1] part[2] part[3]) + 10)
    text = model
    n = split(changes, change, " ;; ")
    for (c = 1; c <= n; c++) {
      at = index(change[c], " =>")
      old = plain(substr(change[c], 1, at - 1))
      i = index(text, old)
      if (at < 2 || !i) wrong("not in the model: " change[c])
      text = substr(text, 1, i - 1) plain(substr(change[c], at + 4)) substr(text, i + length(old))
    }
    put(text, part[1] "|" part[2] "|" part[3], m in named ? "wrong_" part[1] : ++number)
  }
  for (m = 1; m <= mutations; m++)
    for (i = 1; (k = index(substr(model, i), from[m])) > 0; i = k + 1) {
      k += i - 1
      text = substr(model, 1, k - 1) to[m] substr(model, k + length(from[m]))
      head = substr(text, 1, k - 1)
      sub(/.*\n/, "", head)
      line = substr(text, k)
      sub(/\n.*/, "", line)
      line = trimmed(head line)
      if (line in same) used[line] = 1
      else put(text, "mutation|*|", ++number)
    }
  for (line in same) if (!(line in used)) wrong("same as the model, and no mutant: " line)
  exit failed
}
