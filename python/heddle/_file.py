# SPDX-License-Identifier: Apache-2.0
"""Files of kernels, policies and predicates (doc/extending.md), compiled by the command and loaded into this process."""

from __future__ import annotations

import json
import os
import subprocess

from heddle import _core
from heddle._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    Path = str | bytes | os.PathLike[str]

loaded: list[str] = []  # the command is given these, too


def load_file(path: Path) -> list[str]:
    """Compiles a file, unless the cache has it, and adds its rows; returns them: ["kernel hkv.mine"]."""
    from heddle._command import _path, program

    name = _path(path)
    done = subprocess.run([program(), "compile", name, "--json"], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="backslashreplace").strip()
        error = Error(said or f"heddle ended with code {done.returncode}")
        error.status = {3: "HD_ECORRUPT", 4: "HD_EIO"}.get(done.returncode, "HD_EINVAL")
        raise error
    (row,) = json.loads(done.stdout)["rows"]
    added: list[str] = _core.load_object(name, row["object"]).split(", ")
    loaded.append(os.path.abspath(name))
    return added
