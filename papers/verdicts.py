# SPDX-License-Identifier: Apache-2.0
#
# verdicts.py - compares the results of a paper with its claims.txt: writes verdicts.tsv, the tables of README.md and,
# with the command heddle, plots/*.svg. A paper's judge.py adds how its results are looked up.
#
#     judge.py [--gpu nvidia-h200] [--results FOLDER]... [--out FOLDER] [--check]
#
# --results: a folder that is searched before the recorded results. --out: where to write (beside judge.py). --check:
# write nothing; exit code 1 if something would change.
#
# A claim is a paragraph of lines, each with its key in the first ten columns:
#
#   claim     what the paper says                        where     its section, table or figure
#   expected  its figure                                 measured  an expression over the names of the results
#   holds     when the claim holds: m is what was measured, e what was expected
#   shape     when its shape holds: the direction, within wider bounds
#   because   why it cannot be tested here (then nothing is measured), or an explanation of the result
#   hardware  what it was measured on, if the paper's figure is of other hardware: both are shown, neither is judged
#   later     what will measure it (then nothing is measured yet)
#   show      how figures are printed: % for shares, pp for changes of shares, x for ratios, else as they are
import argparse
import pathlib
import sys

from kept import Missing, replaced

ANSWERS = ["holds", "holds in shape", "does not hold", "not measured yet", "not testable here", "other hardware"]


def claims_of(path):
    """The paragraphs of claims.txt, each a dict; `section` is carried on."""
    section, claims = "", []
    for paragraph in path.read_text().split("\n\n"):
        claim = {}
        for line in paragraph.splitlines():
            if line and not line.startswith("#"):
                key, value = line[:10].strip(), line[10:].strip()
                claim[key] = value
        section = claim.get("section", section)
        if "claim" in claim:
            claims.append(claim | {"section": section})
    return claims


def shown(value, how):
    if value is None:
        return ""
    if how == "%":
        return f"{100 * value:.1f}%"
    if how == "pp":
        return f"{100 * value:+.2f} pp"
    if how == "x":
        return f"{value:.2f}x"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def judged(claim, results):
    """measured, verdict, and why where one is to be told."""
    if "measured" not in claim:
        return (None, ANSWERS[3], claim["later"]) if "later" in claim else (None, ANSWERS[4], claim["because"])
    names = {"__builtins__": {}} | results.names()
    try:
        m = float(eval(claim["measured"], names))
    except Missing as missing:
        return None, ANSWERS[3], f"there is no {missing}"
    names |= {"m": m, "e": float(claim["expected"])}
    if "hardware" in claim:
        return m, ANSWERS[5], claim["hardware"]
    verdict = ANSWERS[0] if eval(claim["holds"], names) else ANSWERS[1] if eval(claim["shape"], names) else ANSWERS[2]
    return m, verdict, claim.get("because", "")


def rows_of(path, results):
    rows = []
    for claim in claims_of(path):
        m, verdict, why = judged(claim, results)
        e = float(claim["expected"]) if "expected" in claim else None
        rows.append(claim | {"e": e, "m": m, "verdict": verdict, "why": why})
    return rows


# ---- What is written -------------------------------------------------------------------------------------------------


def verdicts_tsv(rows):
    head = "section\twhere\tclaim\texpected\tmeasured\tverdict\tmeasured_by\tholds_when\tshape_when\twhy\n"
    return head + "".join(
        "\t".join([r["section"], r["where"], r["claim"], "" if r["e"] is None else f"{r['e']:g}", "" if r["m"] is None else f"{r['m']:.5g}",
                   r["verdict"], r.get("measured", ""), r.get("holds", ""), r.get("shape", ""), r["why"]]) + "\n"
        for r in rows)


PLURAL = dict(zip(ANSWERS, ["hold", "hold in shape", "do not hold", "are not measured yet", "are not testable here", "are of other hardware"]))


def summary(rows):
    counts = [(a, sum(r["verdict"] == a for r in rows)) for a in ANSWERS]
    return f"{len(rows)} claims: " + ", ".join(f"{n} {PLURAL[a]}" for a, n in counts if n) + ".\n"


def claims_table(rows):
    text, section = "", None
    for r in rows:
        if r["section"] != section:
            section = r["section"]
            text += f"\n### {section}\n\n| claim | where | paper | measured | verdict | note |\n|---|---|---|---|---|---|\n"
        mark = f"**{r['verdict']}**" if r["verdict"] == "does not hold" else r["verdict"]
        text += f"| {r['claim']} | {r['where']} | {shown(r['e'], r.get('show'))} | {shown(r['m'], r.get('show'))} | {mark} | {r['why']} |\n"
    return text.lstrip("\n")


def judge(here, results_of, tables):
    """The command line. results_of(folders, gpu): the results; tables: the page's further tables, each a function of the results."""
    p = argparse.ArgumentParser(add_help=True)
    p.add_argument("--gpu", default="nvidia-h200")
    p.add_argument("--results", action="append", default=[])
    p.add_argument("--out", default=str(here))
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    out = pathlib.Path(o.out)
    folders = [pathlib.Path(f) for f in o.results] + [out / "results", here / "results", here.parent.parent / "bench" / "results"]
    results = results_of(folders, o.gpu)
    rows = rows_of(here / "claims.txt", results)
    page = replaced(replaced((here / "README.md").read_text(), "summary", summary(rows)), "claims", claims_table(rows))
    for name, table in tables.items():
        page = replaced(page, name, table(results))
    made = {"verdicts.tsv": verdicts_tsv(rows), "README.md": page}
    if o.check:
        changed = [n for n, text in made.items() if not (here / n).exists() or (here / n).read_text() != text]
        for name in changed:
            print(f"{name} is not what the results say: run papers/{here.name}/run.sh judge")
        sys.exit(1 if changed else 0)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (out / name).write_text(text)
    import plots

    plots.draw(results, rows, out / "plots")
    print(summary(rows), end="")
