#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sass.py - reads the machine code that nvcc made, without NVIDIA's tools: what a kernel uses, and whether two are the same.

    sass.py list CUBIN [KERNEL...]       a row per kernel: registers, stack, shared memory, memory operations, calls
    sass.py same CUBIN LEFT RIGHT        both kernels, instruction by instruction; 1 when they differ
    sass.py calibrate CUBIN              the kernels one_X have an instruction X, and no other kernel-made one
    sass.py budget CUBIN ROWS            every kernel against the first row of the file ROWS that its name matches

A row of ROWS is: a pattern (* and ?), the most registers, and what must be there ("LDG.128"). No kernel may use local memory or
call a function, but for what its row allows: "stack<=96" bytes of local memory, "CALL<=3" places of a call; one that no row matches is
an offence too. An instruction of sm_70 to sm_90 has 16 bytes; its operation is in
the lowest nine bits, and how wide it reaches in bits 73 to 75.
"""
import collections
import fnmatch
import re
import struct
import sys

OPERATIONS = {
    0x180: "LD", 0x181: "LDG", 0x183: "LDL", 0x184: "LDS", 0x182: "LDC", 0x185: "ST", 0x186: "STG", 0x187: "STL", 0x188: "STS",
    0x143: "CALL", 0x144: "CALL", 0x18e: "RED", 0x1a6: "RED", 0x1a8: "ATOM", 0x1a9: "ATOM", 0x18a: "ATOM", 0x18b: "ATOM",
    0x1ae: "LDGSTS", 0x15d: "NANOSLEEP", 0x1c4: "REDUX", 0x106: "VOTE", 0x189: "SHFL", 0x118: "NOP", 0x14d: "EXIT",
    0x147: "BRA", 0x192: "MEMBAR", 0x18f: "CCTL",
}
SIZED = {"LD", "LDC", "LDG", "LDL", "LDS", "ST", "STG", "STL", "STS"}
SIZES = {0: "8", 1: "8", 2: "16", 3: "16", 4: "32", 5: "64", 6: "128"}
NAMED = SIZED | {"CALL", "RED", "ATOM", "LDGSTS", "NANOSLEEP", "REDUX"}

REGCOUNT, FRAME_SIZE = 0x2F, 0x11  # attributes of .nv.info
Kernel = collections.namedtuple("Kernel", "name code registers stack shared")


def plain(symbol):
    """A function's own name: that of "_Z4name8hkv_args" is "name"."""
    mangled = re.match(r"_Z(\d+)", symbol)
    return symbol[mangled.end() : mangled.end() + int(mangled[1])] if mangled else symbol


def kernels(path):
    """The kernels of a cubin, which is an ELF file of 64 bits, by name."""
    data = open(path, "rb").read()
    if data[:5] != b"\x7fELF\x02":
        raise SystemExit(f"{path}: not a cubin")
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]

    def text(start, at):
        return data[start + at : data.index(b"\0", start + at)].decode()

    def body(section):
        return data[section[4] : section[4] + section[5]]

    named = {text(sections[names_at][4], s[0]): s for s in sections}
    symbols = body(named[".symtab"])
    strings = named[".strtab"][4]
    symbol = [text(strings, struct.unpack_from("<I", symbols, at)[0]) for at in range(0, len(symbols), 24)]

    told = {REGCOUNT: {}, FRAME_SIZE: {}}
    info, at = body(named[".nv.info"]), 0
    while at < len(info):
        form, attribute, length = struct.unpack_from("<BBH", info, at)
        if form == 4 and attribute in told:  # a symbol and its value
            which, value = struct.unpack_from("<II", info, at + 4)
            told[attribute][symbol[which]] = value
        at += 4 + (length if form == 4 else 0)

    found = {}
    for name, section in named.items():
        if name.startswith(".text."):
            name = name[len(".text.") :]
            shared = named.get(".nv.shared." + name)
            found[plain(name)] = Kernel(plain(name), body(section), told[REGCOUNT].get(name, section[7] >> 24), told[FRAME_SIZE].get(name, 0),
                                        shared[5] if shared else 0)
    return found


def instructions(code):
    """Its operations in order: "LDG.128", "EXIT", ... or the number of one that has no name here."""
    for at in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, at)
        name = OPERATIONS.get(low & 0x1FF, hex(low & 0x1FF))
        yield name + "." + SIZES.get(high >> 9 & 7, "?") if name in SIZED else name


def uses(kernel):
    """How often it has each operation that matters here."""
    return collections.Counter(op for op in instructions(kernel.code) if op.split(".")[0] in NAMED)


def pick(all_kernels, name):
    if name not in all_kernels:
        raise SystemExit(f"there is no kernel {name}")
    return all_kernels[name]


def list_kernels(path, *wanted):
    found = kernels(path)
    print("kernel\tregisters\tstack\tshared\tinstructions\tuses")
    for name in wanted or sorted(found):
        k = pick(found, name)
        length = sum(op != "NOP" for op in instructions(k.code))
        used = " ".join(f"{op}x{n}" for op, n in sorted(uses(k).items()))
        print(f"{name}\t{k.registers}\t{k.stack}\t{k.shared}\t{length}\t{used}")
    return 0


def same(path, left, right):
    found = kernels(path)
    a, b = pick(found, left), pick(found, right)
    if (a.code, a.registers, a.stack, a.shared) == (b.code, b.registers, b.stack, b.shared):
        print(f"{left} = {right}: {len(a.code) // 16} instructions, {a.registers} registers")
        return 0
    print(f"{left}: {len(a.code) // 16} instructions, {a.registers} registers; {right}: {len(b.code) // 16}, {b.registers}")
    for i, (x, y) in enumerate(zip(instructions(a.code), instructions(b.code))):
        if a.code[16 * i : 16 * i + 16] != b.code[16 * i : 16 * i + 16]:
            print(f"instruction {i}: {x} {a.code[16 * i:16 * i + 16].hex()} and {y} {b.code[16 * i:16 * i + 16].hex()}")
            break
    return 1


def calibrate(path):
    found, wrong = kernels(path), 0
    for name in sorted(found):
        if not name.startswith("one_"):
            continue
        wanted = name[len("one_") :].replace("_", ".")
        used = uses(found[name])
        # What they cannot do without: a load's result is stored, a function has a body, ...
        besides = {"LDL": ("STL.32", "STG.32"), "STL": ("LDL.32", "STG.32"), "CALL": ("NANOSLEEP", "STG.32"), "LDGSTS": ("LDS.32",),
                   "LDG": ("STG.32",)}
        seen = [op for op in used if wanted in (op, op.split(".")[0])]
        strange = [op for op in used if op not in seen and op not in besides.get(wanted.split(".")[0], ()) and not op.startswith("LDC")]  # arguments
        if not seen or strange:
            print(f"{name}: has {dict(used)}")
            wrong += 1
    if not any(name.startswith("one_") for name in found):
        raise SystemExit(f"{path}: has no kernel one_X")
    return int(wrong > 0)


def budget(path, rows_path):
    rows = [line.split() for line in open(rows_path) if line.strip() and not line.startswith("#")]
    wrong = 0
    for name, k in sorted(kernels(path).items()):
        used, offences = uses(k), []
        row = next((r for r in rows if fnmatch.fnmatchcase(name, r[0])), None)
        if row is None:
            offences.append("no row states its budget")
        else:
            if k.registers > int(row[1]):
                offences.append(f"{k.registers} registers, the budget is {row[1]}")
            offences += [f"no {op}" for op in row[2:] if "<=" not in op and op not in used]
        allowed = {"stack": 0, "CALL": 0, **{op: int(n) for op, _, n in (word.partition("<=") for word in (row or [])[2:]) if n}}
        offences += [f"{n} x {op}" for op, n in used.items() if op.split(".")[0] in ("LDL", "STL") and not allowed["stack"]]
        if used["CALL"] > allowed["CALL"]:
            offences.append(f"{used['CALL']} x CALL")
        if k.stack > allowed["stack"]:
            offences.append(f"{k.stack} bytes of stack")
        if offences:
            print(f"{name}: {'; '.join(offences)}")
            wrong += 1
    return int(wrong > 0)


VERBS = {"list": list_kernels, "same": same, "calibrate": calibrate, "budget": budget}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in VERBS:
        raise SystemExit(__doc__)
    sys.exit(VERBS[sys.argv[1]](*sys.argv[2:]))
