# SPDX-License-Identifier: Apache-2.0
"""Code blocks as HTML: highlight(text, language) marks comments, strings, numbers, keywords and names of types.

A language is a table of patterns, which are tried in order at every place. Text that no pattern takes stays as it is.
"""

import html
import re

C_KEYWORDS = (
    "break case const continue default do else enum extern for goto if inline return sizeof static struct switch "
    "typedef union volatile while class namespace template auto constexpr using new delete try catch public private "
    "true false NULL nullptr __global__ __device__ __shared__ __host__"
)
C_TYPES = "void bool char short int long float double unsigned signed size_t ptrdiff_t"
PYTHON_KEYWORDS = (
    "and as assert async await break class continue def del elif else except finally for from global if import in is "
    "lambda nonlocal not or pass raise return try while with yield None True False match case"
)
SHELL_KEYWORDS = "if then else elif fi for in do done while case esac function export local return"

NUMBER = r"\b(?:0[xX][0-9a-fA-F']+|[0-9][0-9.']*(?:[eE][-+]?[0-9]+)?)(?:[uUlLfF]*|Ki|Mi|Gi|k|%)\b%?"
DOUBLE, SINGLE = r'"(?:\\.|[^"\\\n])*"', r"'(?:\\.|[^'\\\n])*'"


def words(text):
    return r"\b(?:" + "|".join(text.split()) + r")\b"


SHELL = (
    ("c", r"(?<!\S)#[^\n]*"),
    ("s", DOUBLE + "|" + SINGLE),
    ("k", r"(?m:^\s*\$ (?:\S+/)?[a-z]+|^(?:\S+/)?(?:heddle|make|cc|pip|python3?|git|apt-get|printf)\b)"),
    ("k", words(SHELL_KEYWORDS)),
    ("t", r"(?<!\S)--?[A-Za-z][A-Za-z-]*"),
    ("n", r"\$\{?\w+\}?"),
)
LANGUAGES = {
    "c": (
        ("c", r"/\*.*?\*/|//[^\n]*"),
        ("s", DOUBLE + "|" + SINGLE + r"|(?<=#include )<[^>\n]+>"),
        ("p", r"(?m:^\s*#\s*\w+)"),
        ("k", words(C_KEYWORDS)),
        ("t", words(C_TYPES) + r"|\bu?int(?:8|16|32|64)_t\b|\bhd_\w+(?=\s+[*\w])"),
        ("n", r"\b[A-Z][A-Z0-9_]{2,}\b"),
        ("d", NUMBER),
    ),
    "python": (
        ("c", r"#[^\n]*"),
        ("s", r'""".*?"""|[rfb]?' + DOUBLE + "|[rfb]?" + SINGLE),
        ("k", words(PYTHON_KEYWORDS)),
        ("t", r"(?<=def )\w+|(?<=class )\w+|@\w+"),
        ("d", NUMBER),
    ),
    "sh": SHELL,
    "diff": (("t", r"(?m:^\+[^\n]*)"), ("p", r"(?m:^-[^\n]*)"), ("c", r"(?m:^@@[^\n]*)")),
    "json": (
        ("k", DOUBLE + r"(?=\s*:)"),
        ("s", DOUBLE),
        ("t", words("true false null")),
        ("d", r"-?\b[0-9.eE+-]+\b"),
    ),
}
ALIASES = {"cpp": "c", "cuda": "c", "py": "python", "shell": "sh", "bash": "sh", "console": "sh"}


def compiled(table):
    """One pattern for a language; the name of the group that matches is the class, with a number to tell it apart."""
    return re.compile("|".join(f"(?P<{name}{i}>{pattern})" for i, (name, pattern) in enumerate(table)), re.S)


PATTERNS = {name: compiled(table) for name, table in LANGUAGES.items()}


def highlight(text, language):
    """HTML of the text. Classes: c comment, s string, k keyword, t type or option, n name, d number, p directive."""
    pattern = PATTERNS.get(ALIASES.get(language, language))
    if not pattern:
        return html.escape(text, quote=False)
    parts, end = [], 0
    for match in pattern.finditer(text):
        if match.end() == match.start():
            continue
        parts.append(html.escape(text[end : match.start()], quote=False))
        parts.append(f'<span class="h-{match.lastgroup[0]}">{html.escape(match.group(), quote=False)}</span>')
        end = match.end()
    parts.append(html.escape(text[end:], quote=False))
    return "".join(parts)
