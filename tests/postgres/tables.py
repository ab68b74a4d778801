"""Tables of PostgreSQL's, partitioned in many ways, and joins of them.

``DDL`` is given to PostgreSQL and to ``Catalog.from_ddl`` alike. Each table has the columns ``k``,
``j`` and ``v``; ``v`` is one value for one row, so that joins on it too give few rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise


def _table(name: str, by: str, parts: Sequence[str], k: str = "int", j: str = "int") -> str:
    lines = [f"CREATE TABLE {name} (k {k}, j {j}, v int) PARTITION BY {by}"]
    for number, part in enumerate(parts):
        bound = part if part.startswith("DEFAULT") else f"FOR VALUES {part}"
        lines.append(f"CREATE TABLE {name}_{number} PARTITION OF {name} {bound}")
    return ";\n".join(lines) + ";\n"


def _in(*values: str) -> list[str]:
    return [value if value == "DEFAULT" else f"IN ({value})" for value in values]


def _from(*ends: str) -> list[str]:
    """Ranges from each end to the next; ``-`` leaves a gap."""
    bounds = []
    for low, high in pairwise(ends):
        if "-" not in (low, high):
            bounds.append(f"FROM ({low}) TO ({high})")
    return bounds


def _hash(*rest: tuple[int, int]) -> list[str]:
    return [f"WITH (MODULUS {modulus}, REMAINDER {remainder})" for modulus, remainder in rest]


def _levels(name: str, outer: Sequence[str], inner: Sequence[Sequence[str]], by: str) -> str:
    """RANGE (k) whose partitions are partitioned themselves."""
    text = _table(name, "RANGE (k)", [f"{name} PARTITION BY {by}" for name in outer])
    for number, parts in enumerate(inner):
        for index, part in enumerate(parts):
            bound = part if part == "DEFAULT" else f"FOR VALUES {part}"
            text += f"CREATE TABLE {name}_{number}_{index} PARTITION OF {name}_{number} {bound};\n"
    return text


_FOURS = [(4, index) for index in range(4)]
_OUTER = _from("0", "100", "200")
_J = [_in("0, 1", "2, 3"), _in("0, 1", "2, 3")]

DDL = "".join(
    [
        _table("l3", "LIST (k)", _in("0, 1", "2, 3", "4, 5")),
        _table("l3b", "LIST (k)", _in("4, 5", "0, 1", "3, 2")),
        _table("l2", "LIST (k)", _in("0, 1", "2, 3")),
        _table("lx", "LIST (k)", _in("0, 2", "1, 3")),
        _table("lfine", "LIST (k)", _in("0", "1", "2, 3", "4, 5")),
        _table("lpart", "LIST (k)", _in("0", "2", "4, 5, 6")),
        _table("lnone", "LIST (k)", _in("10", "11")),
        _table("ln", "LIST (k)", _in("0, 1", "2, 3", "NULL")),
        _table("lnb", "LIST (k)", _in("0, 1", "2, 3", "NULL")),
        _table("lnin", "LIST (k)", _in("0, 1", "2, 3, NULL")),
        _table("ld", "LIST (k)", _in("0, 1", "2, 3", "DEFAULT")),
        _table("ldb", "LIST (k)", _in("0, 1", "2, 3", "DEFAULT")),
        _table("ld2", "LIST (k)", _in("0, 1", "DEFAULT")),
        _table("lbig", "LIST (k)", _in("0, 1", "2, 3", "4, 5"), k="bigint"),
        _table("lt", "LIST (k)", _in("'0', '1'", "'2', '3'"), k="text"),
        _table("lv", "LIST (k)", _in("'2', '3'", "'1', '0'"), k="varchar(9)"),
        _table("lj", "LIST (j)", _in("0, 1", "2, 3")),
        _table("r3", "RANGE (k)", _from("0", "100", "200", "300")),
        _table("r3b", "RANGE (k)", _from("0", "100", "200", "300")),
        _table("r2", "RANGE (k)", _from("0", "100", "200")),
        _table("rgap", "RANGE (k)", _from("0", "100", "-", "200", "300")),
        _table("rcross", "RANGE (k)", _from("50", "150", "250")),
        _table("rin", "RANGE (k)", _from("10", "90", "-", "110", "190", "-", "210", "290")),
        _table("rmin", "RANGE (k)", _from("MINVALUE", "100", "200", "MAXVALUE")),
        _table("rd", "RANGE (k)", [*_from("0", "100", "200"), "DEFAULT"]),
        _table("rdb", "RANGE (k)", [*_from("0", "100", "200"), "DEFAULT"]),
        _table("rd1", "RANGE (k)", [*_from("0", "100"), "DEFAULT"]),
        _table("rbig", "RANGE (k)", _from("0", "100", "200", "300"), k="bigint"),
        _table(
            "rday", "RANGE (k)", _from("'2024-01-01'", "'2024-02-01'", "'2024-03-01'"), k="date"
        ),
        _table(
            "rday2", "RANGE (k)", _from("'2024-01-01'", "'2024-02-01'", "'2024-03-01'"), k="date"
        ),
        _table("rday3", "RANGE (k)", _from("'2024-01-01'", "'2024-01-20'"), k="date"),
        _table("rkj", "RANGE (k, j)", _from("0, 0", "100, 2", "300, 0")),
        _table("rkjb", "RANGE (k, j)", _from("0, 0", "100, 2", "300, 0")),
        _table("rkjm", "RANGE (k, j)", _from("MINVALUE, MINVALUE", "100, 2", "MAXVALUE, MAXVALUE")),
        _table("re", "RANGE ((k + j))", _from("0", "100", "400")),
        _table("h4", "HASH (k)", _hash(*_FOURS)),
        _table("h4b", "HASH (k)", _hash(*_FOURS)),
        _table("h2", "HASH (k)", _hash((2, 0), (2, 1))),
        _table("h42", "HASH (k)", _hash((2, 0), (4, 1), (4, 3))),
        _table("ht", "HASH (k)", _hash(*_FOURS), k="text"),
        _table("hkj", "HASH (k, j)", _hash(*_FOURS)),
        _table("hkjb", "HASH (k, j)", _hash(*_FOURS)),
        _levels("m", _OUTER, _J, "LIST (j)"),
        _levels("mb", _OUTER, _J, "LIST (j)"),
        _levels("mx", _OUTER, [_in("0, 2", "1, 3"), _in("0, 1", "2, 3")], "LIST (j)"),
        _levels("mh", _OUTER, [_hash((2, 0), (2, 1))] * 2, "HASH (v)"),
        "CREATE TABLE plain (k int, j int, v int);\n",
    ]
)

INNER, LEFT, RIGHT, FULL = "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"
ALL = (INNER, LEFT, RIGHT, FULL)
SEMI, ANTI, IN = "EXISTS", "NOT EXISTS", "IN"
K, KV, KJ, KJV = ("k",), ("k", "v"), ("k", "j"), ("k", "j", "v")

_CASES: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    # lists
    ("l3", "l3b", (*ALL, SEMI, ANTI, IN), KV),
    ("l3", "l3b", (INNER, LEFT, FULL), KJV),
    ("l3", "l3b", (INNER, LEFT), ("v",)),
    ("l3", "l2", (*ALL, SEMI, ANTI), KV),
    ("l3", "lx", (INNER, LEFT), KV),
    ("l3", "lfine", (INNER, LEFT), KV),
    ("l2", "lpart", (INNER, LEFT), KV),
    ("lpart", "l3", (INNER, LEFT, FULL), KV),
    ("l3", "lnone", (INNER, LEFT), KV),
    ("ln", "lnb", (*ALL, SEMI, ANTI), KV),
    ("ln", "lnin", (INNER, LEFT, FULL), KV),
    ("ln", "l2", (INNER, LEFT, RIGHT, SEMI), KV),
    ("ld", "ldb", (*ALL, SEMI, ANTI), KV),
    ("ld", "l3", (*ALL, SEMI), KV),
    ("ld", "ld2", (INNER, LEFT), KV),
    ("ld2", "l2", (INNER, LEFT, FULL), KV),
    ("ld", "ln", (INNER, LEFT), KV),
    ("l3", "lbig", (INNER, LEFT), KV),
    ("lt", "lv", (INNER, LEFT, FULL), KV),
    ("l2", "lj", (INNER,), KJV),
    # ranges
    ("r3", "r3b", (*ALL, SEMI, ANTI, IN), KV),
    ("r3", "r3b", (INNER, ANTI), KJV),
    ("r3", "r3b", (INNER, FULL), ("v",)),
    ("r3", "r2", (*ALL, SEMI, ANTI), KV),
    ("r3", "rgap", (INNER, LEFT, RIGHT), KV),
    ("r3", "rcross", (INNER, LEFT), KV),
    ("r3", "rin", (*ALL, SEMI), KV),
    ("r3", "rmin", (*ALL,), KV),
    ("rd", "rdb", (*ALL, SEMI, ANTI), KV),
    ("rd", "r2", (INNER, LEFT, RIGHT, FULL), KV),
    ("rd", "r3", (INNER, LEFT, RIGHT), KV),
    ("rd", "rd1", (INNER, LEFT), KV),
    ("rd1", "r3", (INNER,), KV),
    ("rd1", "rgap", (INNER, RIGHT), KV),
    ("r3", "rbig", (INNER, LEFT), KV),
    ("rday", "rday2", (*ALL, SEMI, ANTI), KV),
    ("rday", "rday3", (INNER, LEFT, RIGHT), KV),
    ("rkj", "rkjb", (*ALL,), KJV),
    ("rkj", "rkjb", (INNER, LEFT), KV),
    ("rkj", "rkjm", (INNER, LEFT), KJV),
    ("rkj", "r3", (INNER,), KJV),
    ("re", "re", (INNER,), KJV),
    # hashes
    ("h4", "h4b", (*ALL, SEMI, ANTI, IN), KV),
    ("h4", "h2", (INNER, LEFT), KV),
    ("h4", "h42", (INNER,), KV),
    ("h4", "ht", (INNER,), ("v",)),
    ("hkj", "hkjb", (*ALL, SEMI), KJV),
    ("hkj", "hkjb", (INNER,), KV),
    ("hkj", "h4", (INNER,), KJV),
    ("h4", "l3", (INNER,), KV),
    ("l3", "r3", (INNER,), KV),
    # several levels
    ("m", "mb", (*ALL, SEMI, ANTI), KJV),
    ("m", "mb", (INNER, LEFT), KV),
    ("m", "mx", (INNER, LEFT), KJV),
    ("m", "r2", (INNER, LEFT), KV),
    ("m", "mh", (INNER,), KJV),
    ("mh", "mh", (INNER, LEFT), KV),
    ("r3", "plain", (INNER, LEFT), KV),
)


def _query(one: str, other: str, join: str, columns: Sequence[str]) -> str:
    same = " AND ".join(f"x.{column} = y.{column}" for column in columns)
    if join in ALL:
        shown = "x.k, x.j, x.v, y.k AS k2, y.j AS j2, y.v AS v2"
        return f"SELECT {shown} FROM {one} x {join} {other} y ON {same}"
    if join == IN:
        first, second = (", ".join(f"{name}.{c}" for c in columns) for name in ("x", "y"))
        inner = f"SELECT {second} FROM {other} y"
        return f"SELECT x.k, x.j, x.v FROM {one} x WHERE ({first}) IN ({inner})"
    inner = f"SELECT 1 FROM {other} y WHERE {same}"
    return f"SELECT x.k, x.j, x.v FROM {one} x WHERE {join} ({inner})"


def queries() -> Iterator[tuple[str, str]]:
    """Each query with its name."""
    for one, other, kinds, columns in _CASES:
        for join in kinds:
            yield f"{one} {join} {other} on {'+'.join(columns)}", _query(one, other, join, columns)
