# SPDX-License-Identifier: Apache-2.0
"""The build backend of the Python package (PEP 517): runs configure and make, and packs the wheel.

It needs nothing but Python's own library, a C compiler, make and what configure asks for, and no network.

    pip install .                                             # into build/wheel
    pip install . -C configure='--without-cuda CC=clang'      # with words for configure
    python3 python/backend.py pack SOURCE BUILD FOLDER        # what `make wheel` runs in a build folder
"""

import base64
import contextlib
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
OPENMP, OWN_OPENMP = b"libgomp.so.1", b"libgomp.hd.1"  # of the same length: names in a binary are replaced in place

SUMMARY = "Hash tables with cache semantics, on CPUs and NVIDIA GPUs"
CLASSIFIERS = (
    "Development Status :: 4 - Beta",
    "Intended Audience :: Developers",
    "Intended Audience :: Science/Research",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: C",
    "Programming Language :: Python :: 3 :: Only",
    "Topic :: Scientific/Engineering",
    "Topic :: Software Development :: Libraries",
    "Typing :: Typed",
)


class Failed(RuntimeError):
    """A step of the build failed; the message says which, and how to go on."""


def version_of(source):
    """The version that configure.ac has."""
    return re.search(r"^AC_INIT\(\[heddle\], \[([^]]+)\]", (source / "configure.ac").read_text(), re.M).group(1)


def metadata(source):
    """The text of METADATA and PKG-INFO."""
    lines = ["Metadata-Version: 2.2", "Name: heddle", f"Version: {version_of(source)}", f"Summary: {SUMMARY}"]
    lines += ["License: Apache-2.0", "Requires-Python: >=3.11", "Provides-Extra: plot", "Provides-Extra: torch"]
    lines += ["Requires-Dist: matplotlib; extra == 'plot'", "Requires-Dist: torch>=2.4; extra == 'torch'"]
    lines += [f"Classifier: {c}" for c in CLASSIFIERS]
    lines += ["Description-Content-Type: text/markdown", "", (source / "README.md").read_text(encoding="utf-8")]
    return "\n".join(lines)


# ---- The wheel ----------------------------------------------------------------------------------------------------


def run(words, folder, **options):
    """Runs a command; Failed with the end of what it printed."""
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise Failed(f"{shlex.join(map(str, words))} failed in {folder}:\n" + "\n".join(done.stdout.splitlines()[-25:]))
    return done.stdout


def glibc_needed(binaries):
    """The greatest version of glibc's symbols that the binaries need: (2, 34). None if it is not known."""
    try:
        text = "".join(run(["objdump", "-T", str(b)], ".") for b in binaries)
    except (OSError, Failed):
        return None
    return max(((int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", text)), default=None)


def foreign_libraries(binaries):
    """The libraries that a manylinux system need not have."""
    usual = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux-[\w-]+)\.so")
    text = "".join(run(["objdump", "-p", str(b)], ".") for b in binaries)
    return [name for name in re.findall(r"NEEDED +(\S+)", text) if not usual.match(name)]


def platform_tag(binaries):
    """manylinux_X_Y_arch if the binaries need nothing but glibc X.Y, else linux_arch."""
    plain = re.sub(r"[-.]", "_", sysconfig.get_platform())
    needed = glibc_needed(binaries)
    if not needed or set(foreign_libraries(binaries)) - {OPENMP.decode()}:
        return plain
    return plain.replace("linux_", "manylinux_%d_%d_" % needed, 1)


class Wheel:
    """A wheel that is being written. The same contents give the same bytes."""

    def __init__(self, path):
        self.path, self.part = path, path.with_name(path.name + ".part")
        self.zip = zipfile.ZipFile(self.part, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record = []

    def add(self, name, data, executable=False):
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(info, data, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, info):
        text = "\n".join([*self.record, f"{info}/RECORD,,", ""])
        self.zip.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)), text)
        self.zip.close()
        self.part.replace(self.path)  # whoever finds a wheel finds a whole one


def stripped(binary, folder):
    """The bytes of a binary without the symbols that only debuggers read."""
    copy = pathlib.Path(folder) / pathlib.Path(binary).name
    shutil.copy(binary, copy)
    try:
        run(["strip", "--strip-unneeded", str(copy)], folder)
    except OSError:
        pass  # no binutils: the wheel is larger
    return copy.read_bytes()


def openmp_runtime():
    """The bytes of GCC's OpenMP runtime under a name of its own; None if it is not found."""
    path = run([*shlex.split(os.environ.get("CC", "cc")), "-print-file-name=" + OPENMP.decode()], ".").strip()
    return pathlib.Path(path).read_bytes().replace(OPENMP + b"\0", OWN_OPENMP + b"\0") if os.path.isabs(path) else None


def metadata_files(source, tag):
    """Files of the folder .dist-info, but for RECORD."""
    wheel = f"Wheel-Version: 1.0\nGenerator: heddle {version_of(source)}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    entries = "[console_scripts]\nheddle = heddle._command:main\n"
    return {"METADATA": metadata(source), "WHEEL": wheel, "entry_points.txt": entries,
            "licenses/LICENSE": (source / "LICENSE").read_text()}  # fmt: skip


def stubs(source, core):
    """The text of _core.pyi, from the tables of the module that was built."""
    return run([sys.executable, str(source / "python" / "stubs.py"), str(core)], ".")


def pack(source, build, folder):
    """Writes the wheel of what is built in `build` to `folder`; returns its name."""
    source, build, folder = pathlib.Path(source), pathlib.Path(build), pathlib.Path(folder)
    core, command = build / "python" / "_core.abi3.so", build / "python" / "heddle-command"
    tag = f"cp311-abi3-{platform_tag([core, command])}"
    version = version_of(source)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"heddle-{version}-{tag}.whl"
    info = f"heddle-{version}.dist-info"
    wheel = Wheel(folder / name)
    for path in sorted((source / "python" / "heddle").rglob("*")):
        if path.is_file() and path.suffix in (".py", ".typed"):
            wheel.add(path.relative_to(source / "python").as_posix(), path.read_bytes())
    for path in sorted((source / "tools" / "pages").iterdir()):
        wheel.add(f"heddle/_pages/{path.name}", path.read_bytes())
    dialect = build / "dialect"  # what heddle.load compiles files with
    for path in sorted(p for p in dialect.rglob("*") if p.is_file()):
        wheel.add("heddle/_dialect/" + path.relative_to(dialect).as_posix(), path.read_bytes())
    wheel.add("heddle/_core.pyi", stubs(source, core).encode())
    site = build / "doc" / "site"  # made where cmark-gfm is installed
    for path in sorted(p for p in site.rglob("*") if p.is_file()):
        wheel.add("heddle/_site/" + path.relative_to(site).as_posix(), path.read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        module = stripped(core, scratch)
        if OPENMP + b"\0" in module and (runtime := openmp_runtime()):
            module = module.replace(OPENMP + b"\0", OWN_OPENMP + b"\0")
            wheel.add("heddle.libs/" + OWN_OPENMP.decode(), runtime)
        wheel.add("heddle/_core.abi3.so", module, executable=True)
        wheel.add("heddle/_bin/heddle", stripped(command, scratch), executable=True)
    for file, text in metadata_files(source, tag).items():
        wheel.add(f"{info}/{file}", text.encode())
    wheel.close(info)
    for old in folder.glob("heddle-*.whl"):
        if old.name != name:
            old.unlink()
    return name


# ---- PEP 517 ------------------------------------------------------------------------------------------------------


def build_folder():
    """build/wheel of the source tree, or a folder elsewhere if that cannot be written."""
    if os.access(SOURCE, os.W_OK):
        return SOURCE / "build" / "wheel"
    return pathlib.Path(tempfile.mkdtemp(prefix="heddle-"))


# What a build needs, and the packages of Debian that have it.
PROGRAMS = {"make": "make", "autoreconf": "autoconf automake", "libtoolize": "libtool"}
HEADERS = {"xxhash.h": "libxxhash-dev", "zstd.h": "libzstd-dev", "zlib.h": "zlib1g-dev", "jansson.h": "libjansson-dev"}


def missing():
    """What a build needs and does not find: {what: package}. Headers may be where only configure looks."""
    wanted = {p: package for p, package in PROGRAMS.items() if p == "make" or not (SOURCE / "configure").exists()}
    absent = {program: package for program, package in wanted.items() if not shutil.which(program)}
    compiler = next(filter(shutil.which, [os.environ.get("CC", "gcc").split()[0], "cc", "clang"]), None)
    if not compiler:
        return {**absent, "a C compiler": "gcc", **HEADERS}
    if not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        absent["Python.h"] = "python3-dev"
    for header, package in HEADERS.items():
        words = [compiler, "-E", *shlex.split(os.environ.get("CPPFLAGS", "")), "-x", "c", "-"]
        if subprocess.run(words, input=f"#include <{header}>\n", text=True, capture_output=True).returncode:
            absent[header] = package
    return absent


@contextlib.contextmanager
def named_if_missing():
    """A build. If it fails, and something that it needs is missing, all that is missing is named, and the process ends:
    pip shows these lines alone then, and no traceback."""
    try:
        yield
    except (OSError, Failed):
        absent = missing()
        if not absent:
            raise
        packages = dict.fromkeys(" ".join(absent.values()).split())
        sys.exit(f"heddle: a build needs {', '.join(absent)}; on Debian and Ubuntu: apt-get install {' '.join(packages)}")


def configured(words):
    """A build folder in which configure ran with these words."""
    build = build_folder()
    build.mkdir(parents=True, exist_ok=True)
    if not (SOURCE / "configure").exists():
        run(["./autogen.sh"], SOURCE)
    words = [f"PYTHON={sys.executable}", "CFLAGS=" + os.environ.get("CFLAGS", "-O3"), *shlex.split(words)]
    key = build / "configure-words"
    if not (build / "Makefile").exists() or not key.exists() or key.read_text() != shlex.join(words):
        run([SOURCE / "configure", "-q", *words], build)
        key.write_text(shlex.join(words))
    return build


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with named_if_missing():
        build = configured((config_settings or {}).get("configure", ""))
        run(["make", "-s", f"-j{os.cpu_count() or 1}", "wheel"], build)
    wheels = list((build / "dist").glob("heddle-*.whl"))
    shutil.copy(wheels[0], wheel_directory)
    return wheels[0].name


def build_sdist(sdist_directory, config_settings=None):
    with named_if_missing():
        build = configured((config_settings or {}).get("configure", ""))
        run(["make", "-s", "dist"], build)
    version = version_of(SOURCE)
    name = f"heddle-{version}.tar.gz"
    with tempfile.TemporaryDirectory() as scratch, tarfile.open(build / name) as made:
        made.extractall(scratch)
        folder = pathlib.Path(scratch) / f"heddle-{version}"
        (folder / "PKG-INFO").write_text(metadata(SOURCE), encoding="utf-8")
        part = pathlib.Path(sdist_directory) / (name + ".part")
        with tarfile.open(part, "w:gz") as out:
            out.add(folder, folder.name)
        part.replace(part.with_name(name))
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = pathlib.Path(metadata_directory) / f"heddle-{version_of(SOURCE)}.dist-info"
    info.mkdir()
    plain = re.sub(r"[-.]", "_", sysconfig.get_platform())
    for file, text in metadata_files(SOURCE, f"cp311-abi3-{plain}").items():
        (info / file).parent.mkdir(exist_ok=True)
        (info / file).write_text(text, encoding="utf-8")
    return info.name


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] != "pack":
        sys.exit("usage: backend.py pack SOURCE BUILD FOLDER")
    try:
        print(pathlib.Path(sys.argv[4]) / pack(*sys.argv[2:]))
    except Failed as failure:
        sys.exit(f"backend.py: {failure}")
