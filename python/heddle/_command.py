# SPDX-License-Identifier: Apache-2.0
"""The command `heddle` of the wheel, and its reports."""

import json
import os
import pathlib
import subprocess
import sys

from heddle._core import Error

_STATUS = {2: "HD_EINVAL", 3: "HD_ECORRUPT", 4: "HD_EIO"}


def program():
    """The path of the command: the wheel's own, or that of the variable HEDDLE."""
    return os.environ.get("HEDDLE") or str(pathlib.Path(__file__).parent / "_bin" / "heddle")


def main():
    """Runs the command in place of Python."""
    path = program()
    os.execv(path, ["heddle", *sys.argv[1:]])
