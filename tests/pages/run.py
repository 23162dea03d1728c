# SPDX-License-Identifier: Apache-2.0
"""run.py FOLDER [NAME]... - checks the pages in a folder with Chromium, and says what came of it (TAP).

Each file check_NAME.py beside this one has a function run(tap, browser, folder). Without a NAME all of them run.
"""

import importlib
import pathlib
import sys
import traceback

from browser import Browser, BrowserError


class Tap:
    """Counts and prints results."""

    def __init__(self):
        self.cases, self.failed = 0, 0

    def none(self, name, wrong):
        """Passes when the list of what is wrong is empty."""
        self.cases += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.cases} - {name}", flush=True)
        for line in wrong[:8]:
            print("#   " + str(line)[:600].replace("\n", "\n#   "))


def main(folder, *names):
    here, tap = pathlib.Path(__file__).parent, Tap()
    sys.path.insert(0, str(here))
    names = names or sorted(p.stem.removeprefix("check_") for p in here.glob("check_*.py"))
    with Browser() as browser:
        for name in names:
            try:
                importlib.import_module(f"check_{name}").run(tap, browser, pathlib.Path(folder))
            except (BrowserError, OSError, LookupError, ValueError):
                tap.none(f"check_{name}.py runs to its end", [traceback.format_exc()])
    print(f"1..{tap.cases}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
