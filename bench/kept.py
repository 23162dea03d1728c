# SPDX-License-Identifier: Apache-2.0
#
# kept.py - recorded tables of results, and pages made from them; bench/rows.py and papers/verdicts.py share it.


class Missing(Exception):
    """A table that is not there, or a row that is not in it."""


class Kept:
    """Files of tab-separated lines. A folder that comes first hides files of the same name in later ones."""

    def __init__(self, folders):
        self.folders, self.read = folders, {}

    def lines(self, name):
        if name not in self.read:
            at = next((f / name for f in self.folders if (f / name).exists()), None)
            if at is None:
                raise Missing(name)
            self.read[name] = [line.split("\t") for line in at.read_text().splitlines() if line and not line.startswith("#")]
        return self.read[name]

    def table(self, name):
        """Its rows as dicts, by the names of its first line."""
        head, *rows = self.lines(name)
        return [dict(zip(head, row)) for row in rows]


def replaced(page, name, text):
    """The page with what stands between <!-- name --> and <!-- end --> replaced."""
    begin, end = f"<!-- {name} -->\n", "<!-- end -->"
    at = page.find(begin)
    if at < 0:
        raise SystemExit(f"the page has no {begin.strip()}")
    stop = page.index(end, at)
    return page[: at + len(begin)] + text + page[stop:]


def told(main):
    """main(); what is missing for all of it is said, and no more."""
    try:
        main()
    except Missing as missing:
        raise SystemExit(f"there is no {missing}") from None
