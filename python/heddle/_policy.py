# SPDX-License-Identifier: Apache-2.0
"""Score policies that are expressions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Policy(str):
    """A score policy: three expressions in unsigned 64-bit integers with saturating arithmetic.

    on_insert: the score of a new entry. on_hit: the score of an entry that was used, by default on_insert. admission:
    the score that a new key has against the lowest of a full bucket, by default on_insert. The operands are old (in
    on_hit), given, now and epoch; doc/contract-hkv.md has the grammar.

        heddle.Table(1 << 20, policy=heddle.Policy(on_insert="given", on_hit="old+given", admission="MAX"))

    The object is the text that the library and the command take as a policy.
    """

    def __new__(cls, on_insert: str, on_hit: str | None = None, admission: str | None = None) -> Policy:
        parts = {"on_insert": on_insert, "on_hit": on_hit, "admission": admission}
        text = ";".join(f"{name}={''.join(str(e).split())}" for name, e in parts.items() if e is not None)
        return super().__new__(cls, "expr:" + text)

    def __getnewargs__(self) -> Any:
        parts = dict(part.split("=", 1) for part in self.removeprefix("expr:").split(";"))
        return tuple(parts.get(name) for name in ("on_insert", "on_hit", "admission"))
