# SPDX-License-Identifier: Apache-2.0
"""tap.py MODULE - runs the tests of a module and prints a line of TAP for each, with what failed in comments."""

import sys
import unittest


class Tap(unittest.TestResult):
    """Prints results as they come."""

    def __init__(self, stream):
        super().__init__()
        self.stream, self.count, self.parts = stream, 0, 0

    def line(self, good, test, more=""):
        self.count += 1
        name = test.id().split(".", 1)[-1] if hasattr(test, "id") else str(test)
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{more}", file=self.stream, flush=True)

    def comment(self, text):
        for row in text.splitlines():
            print(f"#   {row}", file=self.stream, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.parts = 0

    def addSuccess(self, test):
        if not self.parts:
            self.line(True, test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line(True, test, f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(False, test)
        self.comment(self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.line(False, test)
        self.comment(self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.parts += 1
            self.line(False, subtest)
            self.comment((self.failures + self.errors)[-1][1])


def main():
    try:
        suite = unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])
    except unittest.SkipTest as reason:
        print(f"ok 1 - {sys.argv[1]} # SKIP {reason}\n1..1")
        return 0
    result = Tap(sys.stdout)
    suite.run(result)
    print(f"1..{result.count}")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
