# SPDX-License-Identifier: Apache-2.0
"""The command `heddle` of the wheel, and its reports as Python objects.

The command runs as a process of its own: its loops are in C, other threads of Python go on, and Ctrl-C ends it as it
does in a shell.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from heddle._core import Error
from heddle._file import loaded
from heddle._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Literal, NoReturn, overload

    import numpy
    from numpy.typing import ArrayLike, NDArray

    Path = str | bytes | os.PathLike[str]
    Trace = Path | ArrayLike
    Words = str | Iterable[Any]

    class SimOutcomes(Report):
        """A report of sim(outcomes=True)."""

        outcomes: NDArray[numpy.uint8]  # without NumPy: bytes

    class Classified(Report):
        """A report of classify."""

        reads: dict[str, list[Any]]

_STATUS = {2: "HD_EINVAL", 3: "HD_ECORRUPT", 4: "HD_EIO"}
_FORMATS = {"oracleGeneral": "oracleGeneral", "csv": "csv", "txt": "txt", "vscsi": "vscsi", "vscsitrace": "vscsi"}
_FORMATS |= {name: name for name in ("lcs", "twitter", "cachelib", "msr", "mooncake")} | {"jsonl": "mooncake"}


def program() -> str:
    """The path of the command: that of the variable HEDDLE, or the wheel's own."""
    return os.environ.get("HEDDLE") or str(pathlib.Path(__file__).parent / "_bin" / "heddle")


def main() -> NoReturn:
    """Runs the command in place of Python."""
    os.execv(program(), ["heddle", *sys.argv[1:]])


def _path(name: Path) -> str:
    """The name of a file as a word that is no option of the command, and not its standard input."""
    text = os.fsdecode(name)
    return os.path.join(".", text) if text.startswith("-") else text


def _text(value: Any) -> str:
    """A value as the command takes it: numbers of NumPy as Python's, names of files, and lists with commas."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (bytes, os.PathLike)):
        return _path(value)
    if isinstance(value, dict):
        raise TypeError("a dict is no value of an option")
    return str(value) if isinstance(value, str) or not hasattr(value, "__iter__") else ",".join(map(_text, value))


def _words(options: dict[str, Any]) -> list[str]:
    """Options as words: dual=True is --dual, load_factors=[0.5, 1] is --load-factors=0.5,1."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        value = value.tolist() if hasattr(value, "tolist") else value
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words.append(f"{option}={_text(value)}")
    return words


def command(*words: Any, **options: Any) -> Report:
    """Runs a verb of the command that reports, and returns the report.

    words: the verb and its arguments, for example "list", "policies". options: as `heddle VERB --help` lists them,
    with _ for -. heddle.Error if the command fails; a check that does not hold is a report whose `ok` is False.
    """
    files = [word for file in loaded for word in ("--with", file)]
    argv = [program(), *files, *map(_text, words), *_words(options), "--json"]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            printed = process.communicate()
        except BaseException:
            process.terminate()
            raise
    out = printed[0].decode(errors="replace")
    said = printed[1].decode(errors="backslashreplace")  # it may have the name of a file
    if files:
        said = re.sub(r"(?m)^heddle: .*, (from the cache|compiled in) .*\n", "", said)
    if process.returncode not in (0, 1) or not out.lstrip().startswith("{"):
        error = Error(said.strip().splitlines()[-1] if said.strip() else f"heddle ended with code {process.returncode}")
        error.status = _STATUS.get(process.returncode, "HD_EINVAL")
        raise error
    return Report(json.loads(out), process.returncode == 0, said.strip())


def _format_of(path: str) -> str:
    """The format that a file's name says."""
    for part in reversed(pathlib.PurePath(path).name.split(".")):
        if part in _FORMATS:
            return _FORMATS[part]
    raise Error(f"{path}: the name does not say a format; pass one of {', '.join(sorted(set(_FORMATS.values())))}")


def write_trace(path: Path, keys: ArrayLike, sizes: ArrayLike | None = None, times: ArrayLike | None = None) -> None:
    """Writes requests as a trace in the format oracleGeneral: time, key, size, and the number of the key's next request.

    keys: int64 or uint64, shape (n). sizes: bytes of the objects, 1 by default. times: seconds, by default 0. Both are
    whole numbers from 0 to 2^32 - 1, shape (n). NumPy is needed.
    """
    import numpy

    def column(name: str, given: ArrayLike) -> NDArray[Any]:
        try:
            numbers = numpy.asarray(given)
        except (OverflowError, ValueError) as error:  # rows of unequal lengths
            raise Error(f"{name}: {error}") from error
        if numbers.dtype.kind not in "iu" and numbers.size:
            raise Error(f"{name}: whole numbers are needed, not {numbers.dtype}")
        if numbers.shape != key.shape:
            raise Error(f"{name}: shape {numbers.shape}, but there are {len(key)} keys")
        for i in numpy.flatnonzero((numbers < 0) | (numbers > 2**32 - 1))[:1]:
            raise Error(f"{name}: row {i} has {numbers[i]}, which is not in 0 to 2^32 - 1")
        return numbers

    key = numpy.asarray(keys)
    if key.ndim != 1 or (key.dtype.kind not in "iu" and key.size):
        raise Error("keys: whole numbers in one dimension are needed")
    record = numpy.zeros(len(key), dtype=[("time", "<u4"), ("key", "<u8"), ("size", "<u4"), ("next", "<i8")])
    record["key"] = key.astype(numpy.uint64)
    record["size"] = 1 if sizes is None else column("sizes", sizes)
    record["time"] = 0 if times is None else column("times", times)
    order = numpy.argsort(record["key"], kind="stable")
    again = record["key"][order[1:]] == record["key"][order[:-1]]
    record["next"] = -1
    record["next"][order[:-1][again]] = order[1:][again] + 1  # requests are numbered from 1
    with open(path, "wb") as file:
        record.tofile(file)


@contextlib.contextmanager
def _trace(trace: Trace, form: str | None) -> Iterator[tuple[str, str]]:
    """The path and the format of a trace: a file, or an array of keys, which is written to a temporary file."""
    if isinstance(trace, (str, bytes, os.PathLike)):
        yield _path(trace), form or _format_of(os.fsdecode(trace))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "requests.oracleGeneral")
        write_trace(path, trace)
        yield path, "oracleGeneral"


def _sizes(trace: Trace, sizes: Words | int) -> str:
    """Sizes as text. The file that an array of keys is written to would seem to have objects of one byte."""
    text = _text(sizes)
    if not isinstance(trace, (str, bytes, os.PathLike)) and re.search(r"(^|,)\d+[KMGTik]*B(,|$)", text):
        raise Error(f"sizes: {text} is in bytes, and an array of keys has no sizes; heddle.write_trace takes them")
    return text


if TYPE_CHECKING:

    @overload
    def sim(trace: Trace, format: str | None = None, policies: Words = ("lru",), sizes: Words | int = ("10%",), *,
            outcomes: Literal[True], **options: Any) -> SimOutcomes: ...  # fmt: skip
    @overload
    def sim(trace: Trace, format: str | None = None, policies: Words = ("lru",), sizes: Words | int = ("10%",), *,
            outcomes: bool = False, **options: Any) -> Report: ...  # fmt: skip


def sim(trace: Trace, format: str | None = None, policies: Words = ("lru",), sizes: Words | int = ("10%",), *,
        outcomes: bool = False, **options: Any) -> Report:  # fmt: skip
    """Replays a trace through tables, and reports the misses by policy and size.

    trace: a file, or an array of keys. format: a row of `heddle list formats`; None: what the file's name says.
    policies, sizes: as in `heddle sim`; a size is a number of entries, a share of the different
    keys ("10%") or, for exact caches and traces with sizes, a number of bytes ("10MiB").
    outcomes: also deliver the outcome of every request (one policy and one size), as report.outcomes. options: those
    of `heddle sim --help`, for example dual=True, threads=4, seeds=5.
    """
    with _trace(trace, format) as (path, form), tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "outcomes")
        if outcomes:
            options["outcomes"] = file
        report = command("sim", path, form, _text(policies), _sizes(trace, sizes), **options)
        if outcomes:
            with open(file, "rb") as bytes_:
                report.outcomes = _bytes(bytes_.read())
        return report


def _bytes(data: bytes) -> Any:
    """Bytes as a uint8 array of NumPy, or as they are without it."""
    try:
        import numpy
    except ImportError:
        return data
    return numpy.frombuffer(data, dtype=numpy.uint8)


def sweep(trace: Trace, format: str | None = None, policies: Words = ("lru", "lfu"), sizes: Words | int | None = None,
          **options: Any) -> Report:  # fmt: skip
    """Miss-ratio curves: as sim, over many sizes. Without `sizes` these are ten, from 0.1% to 100% of the keys.

    trace may also be the specification of a generator, for example "zipf:0.99,1Mi".
    """
    return _curves("sweep", trace, format, policies, sizes, options)


def _curves(verb: str, trace: Trace, format: str | None, policies: Words, sizes: Words | int | None,
            options: dict[str, Any]) -> Report:  # fmt: skip
    generator = isinstance(trace, str) and ":" in trace and not os.path.exists(trace)
    options = {"policies": policies, "sizes": None if sizes is None else _sizes(trace, sizes), **options}
    if generator:
        return command(verb, trace, **options)
    with _trace(trace, format) as (path, form):
        return command(verb, path, form, **options)


def curve(trace: Trace, format: str | None = None, policies: Words = ("full:lru",), sizes: Words | int | None = None,
          **options: Any) -> Report:  # fmt: skip
    """Miss-ratio curves of exact caches from one pass; without `sizes` 20 sizes from 0.1% to 100% of the keys.

    trace as in sweep. options: those of `heddle curve --help`, for example sample="1%", points=50, exact=True.
    """
    return _curves("curve", trace, format, policies, sizes, options)


def stat(trace: Trace, format: str | None = None, **options: Any) -> Report:
    """Requests, keys and sizes of a trace."""
    with _trace(trace, format) as (path, form):
        return command("trace", "stat", path, form, **options)


def run(case: str = "", **options: Any) -> Report:
    """Runs a case, for example "hkv.mix.ref policy=lfu batch=100x500"; judge=True checks every batch."""
    return command("run", *case.split(), **options)


def kmers(file: Path, k: int, **options: Any) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint64]]:
    """Counts the k-mers of a FASTA or FASTQ file: a pair of arrays (kmer, count), both uint64, in ascending order of
    kmer. A base has two bits (A 0, C 1, G 2, T 3), the first base the highest. options: those of `heddle kmer --help`.
    heddle.Error if a count is not exact, as with a `capacity` that is too small.
    """
    import numpy

    from heddle._table import load

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kmers.heddle")
        report = command("kmer", _path(file), k, top=0, output=path, **options)
        if not report.ok:
            raise Error(report.said or f"{os.fsdecode(file)}: the counts are not exact")
        with load(path, threads=1) as table:
            count = "uint32" if table.info["value_bytes"] == 4 else "uint64"
            parts = list(table.items())
    if not parts:
        return numpy.zeros(0, numpy.uint64), numpy.zeros(0, numpy.uint64)
    key = numpy.concatenate([part.key for part in parts])
    counts = numpy.concatenate([part.value for part in parts]).view(count).astype(numpy.uint64).reshape(-1)
    order = numpy.argsort(key)
    return key[order], counts[order]


def classify(reads: Path, references: Iterable[Path] = (), table: Path | None = None, **options: Any) -> Classified:
    """Finds the reference genome that each read comes from, and reports the reads by taxon.

    reads: a FASTA or FASTQ file. references: such files; or `table`, a snapshot that command("classify", *references,
    build=table) has kept. report.reads has a list for each column of the lines that --reads writes (doc/output.md); a
    read without a taxon has None. options: those of `heddle classify --help`, for example k=21, by="record".
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "reads.tsv")
        if table is not None:
            options["with"] = os.fsdecode(table)
        report = command("classify", *map(_path, (reads, *references)), reads=path, **options)
        with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
            head, *rows = (line.rstrip("\n").split("\t") for line in lines)
        columns = zip(*rows) if rows else [()] * len(head)
        report.reads = {
            name: [x or None for x in column] if name == "taxon" else list(column if name == "read" else map(int, column))
            for name, column in zip(head, columns)
        }
        return report  # type: ignore[return-value]


def letters(kmers_: Iterable[Any], k: int) -> list[str]:
    """The bases of k-mers, as strings."""
    return ["".join("ACGT"[int(x) >> 2 * (k - 1 - i) & 3] for i in range(k)) for x in kmers_]
