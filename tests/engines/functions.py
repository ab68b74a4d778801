"""The table of functions of a dialect, asked of its engine: which arguments' NULL gives NULL."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlrewrite.plan.facts.functions import Function, dialect_names, function

_VALUES = {
    "string": ("'a'", "varchar"),
    "text": ("'a'", "varchar"),
    "binary": ("CAST('a' AS varbinary)", "varbinary"),
    "boolean": ("TRUE", "boolean"),
    "double": ("CAST(0.5 AS double)", "double"),
    "date": ("DATE '2024-01-02'", "date"),
    "timestamp": ("TIMESTAMP '2024-01-02 03:04:05'", "timestamp"),
    "timestamp_ntz": ("TIMESTAMP '2024-01-02 03:04:05'", "timestamp"),
    **dict.fromkeys(("bigint", "int", "integral", "number", "any", "long"), ("1", "bigint")),
}


def scalars(dialect: str) -> Iterator[tuple[str, Function]]:
    """The functions of a dialect that make a value of a row, by its own names."""
    names = dialect_names(dialect)
    for name in sorted(names.same | names.own):
        first = names.alphabet[ord(name[0]) - ord("a")] if name in names.own else name[0]
        row = function(first + name[1:])
        assert row is not None
        if row.kind == "scalar":
            yield name, row


def wrong(dialect: str, ask: Callable[[str], object]) -> tuple[int, list[str]]:
    """How many arguments of functions were asked about, and of which the table is wrong; ``ask``
    gives the value of an expression, None for NULL, and raises ValueError for what is refused. The
    calls whose arguments no sample fits are not asked."""
    count, problems = 0, []
    for name, row in scalars(dialect):
        parts = row.signature.split("->")[0].split()
        kinds = [part.rstrip("*") for part in parts if not part.endswith("?") and "=>" not in part]
        samples = [_VALUES.get(kind, ("1", "bigint")) for kind in kinds]
        if any("<" in part or "=>" in part for part in parts) or not samples:
            continue
        try:
            ask(f"{name}({', '.join(value for value, _ in samples)})")
        except ValueError:
            continue
        for at, (_, kind) in enumerate(samples):
            null = f"CAST(NULL AS {kind})"
            arguments = [null if n == at else text for n, (text, _) in enumerate(samples)]
            call = f"{name}({', '.join(arguments)})"
            try:
                value = ask(call)
            except ValueError:
                continue
            count += 1
            if row.null_from(at) and value is not None:
                problems.append(f"{call} is {value}")
            if row.nulls == "never" and value is None:
                problems.append(f"{call} is NULL")
    return count, problems
