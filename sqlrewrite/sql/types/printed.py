"""How Spark prints a call: ``prettyName``, and the default arguments that it adds.

The tables were asked of Spark 4.3, function by function and number by number of arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.plan.facts import types
from sqlrewrite.sql.types.typed import Typed

_UPPER = frozenset(
    """
    acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot csc degrees dense_rank e exp expm1
    hypot log log10 log1p log2 percent_rank pi power radians rank regexp regexp_like rlike sec
    signum sin sinh spark_partition_id sqrt tan tanh
    """.split()
)
_RENAMED = {
    "array_agg": "collect_list",
    "curdate": "current_date",
    "current_database": "current_schema",
    "dateadd": "date_add",
    "string_agg": "listagg",
}
_MAX = "2147483647"


def _after(count: int, given: int) -> str:
    """Zeros for what is left of an interval, the last of them a decimal."""
    return ", ".join(["0"] * (count - given - 1) + ["0.000000"])


_DEFAULTS: dict[str, dict[int, str]] = {
    "aes_decrypt": {2: "GCM, DEFAULT, ", 3: "DEFAULT, ", 4: ""},
    "aes_encrypt": {2: "GCM, DEFAULT, , ", 3: "DEFAULT, , ", 4: ", ", 5: ""},
    "approx_percentile": {2: "10000"},
    "approx_top_k": {1: "5, 10000", 2: "10000"},
    "approx_top_k_accumulate": {1: "10000"},
    "approx_top_k_estimate": {1: "5"},
    "bround": {1: "0"},
    "from_unixtime": {1: "yyyy-MM-dd HH:mm:ss"},
    "hmac": {2: "SHA-256"},
    "hll_sketch_agg": {1: "12"},
    "hll_union": {2: "false"},
    "hll_union_agg": {1: "false"},
    "instr": {3: "1"},
    "lag": {1: "1, NULL", 2: "NULL"},
    "lead": {1: "1, NULL", 2: "NULL"},
    "listagg": {1: "NULL"},
    "locate": {2: "1"},
    "make_dt_interval": {n: _after(4, n) for n in range(4)},
    "make_interval": {n: _after(7, n) for n in range(7)},
    "make_ym_interval": {0: "0, 0", 1: "0"},
    "mask": {1: "X, x, n, NULL", 2: "x, n, NULL", 3: "n, NULL", 4: "NULL"},
    "months_between": {2: "true"},
    "ntile": {0: "1"},
    "overlay": {3: "-1"},
    "percentile": {2: "1"},
    "percentile_approx": {2: "10000"},
    "position": {2: "1"},
    "regexp_extract": {2: "1"},
    "regexp_extract_all": {2: "1"},
    "regexp_instr": {2: "0"},
    "regexp_replace": {3: "1"},
    "replace": {2: ""},
    "round": {1: "0"},
    "sentences": {1: ", ", 2: ""},
    "sort_array": {1: "true"},
    "split": {2: "-1"},
    "str_to_map": {1: ",, :", 2: ":"},
    "string_agg": {1: "NULL"},
    "substr": {2: _MAX},
    "substring": {2: _MAX},
    "theta_sketch_agg": {1: "12"},
    "theta_union": {2: "12"},
    "theta_union_agg": {1: "12"},
    "to_unix_timestamp": {1: "yyyy-MM-dd HH:mm:ss"},
    "try_aes_decrypt": {2: "GCM, DEFAULT, ", 3: "DEFAULT, ", 4: ""},
    "try_make_interval": {n: _after(7, n) for n in range(1, 7)},
    "try_variant_set": {3: "true"},
    "unix_timestamp": {0: "current_timestamp(), yyyy-MM-dd HH:mm:ss", 1: "yyyy-MM-dd HH:mm:ss"},
    "variant_set": {3: "true"},
    "variant_strip_nulls": {1: "true"},
}
"""What Spark prints behind so many arguments."""

_HIDDEN = {
    **dict.fromkeys(("first", "last", "first_value", "last_value", "any_value"), 1),
    **dict.fromkeys(("from_json", "from_csv", "from_xml", "to_json", "to_csv", "to_xml"), 1),
    **dict.fromkeys(("schema_of_json", "schema_of_csv", "schema_of_xml"), 1),
    **dict.fromkeys(("rank", "dense_rank", "percent_rank"), 0),
    **dict.fromkeys(("variant_get", "try_variant_get"), 2),
}
"""Functions that print no more than so many of their arguments."""

_FORMS: dict[tuple[str, int], str] = {
    ("if", 3): "(IF({}, {}, {}))",
    ("ceil", 1): "CEIL({})",
    ("floor", 1): "FLOOR({})",
    ("log", 1): "LOG(E(), {})",
    ("like", 2): "{} LIKE {}",
    ("isnull", 1): "({} IS NULL)",
    ("isnotnull", 1): "({} IS NOT NULL)",
    ("not", 1): "(NOT {})",
    ("div", 2): "({} div {})",
    ("positive", 1): "(+ {})",
    ("trim", 2): "TRIM(BOTH {} FROM {})",
    ("ltrim", 2): "TRIM(LEADING {} FROM {})",
    ("rtrim", 2): "TRIM(TRAILING {} FROM {})",
    ("extract", 2): "extract({} FROM {})",
    ("datepart", 2): "datepart({} FROM {})",
    ("assert_true", 1): "assert_true({0}, '{0}' is not true!)",
}
_UNTOLD = frozenset(
    """
    like mode when and or between in window session_window time_bucket rand randn random uuid
    array_sort convert_timezone raise_error reflect java_method try_reflect grouping_id counter_diff
    shuffle randstr uniform current_time localtime try_to_time aggregate reduce make_timestamp_ltz
    try_make_timestamp_ltz make_timestamp_ntz try_make_timestamp_ntz try_make_timestamp
    try_element_at
    """.split()
)
"""Functions that are printed in other ways than are told here, if with so many arguments."""

_UNTOLD_FAMILIES = (
    "kll_",
    "st_",
    "time_",
    "tuple_",
    "from_avro",
    "from_protobuf",
    "to_avro",
    "to_protobuf",
)


def shown(parts: Sequence[Typed]) -> list[str] | None:
    """How Spark prints operands side by side, or None. A string literal beside one of another
    collation is cast to that, and printed with it."""
    if any(part.type is not None and part.type.collated for part in parts) and any(
        isinstance(part.constant, str) for part in parts
    ):
        return None
    known = [part.text for part in parts if part.text is not None]
    return known if len(known) == len(parts) else None


def filled(form: str, *parts: Typed) -> str | None:
    """A text with those of parts in it; None if one of them is not known."""
    known = shown(parts)
    return None if known is None else form.format(*known)


def printed(name: str, parts: Sequence[Typed], distinct: bool) -> str | None:
    """A call as Spark prints it."""
    known = shown(parts)
    if known is None:
        return None
    known = known[: _HIDDEN.get(name, len(known))]
    if name in _BY_TYPE:
        return _by_type(name, parts, known)
    form = _FORMS.get((name, len(known)))
    if form is not None:
        return None if distinct else form.format(*known)
    if name in _UNTOLD or name.startswith(_UNTOLD_FAMILIES):
        return None
    added = _DEFAULTS.get(name, {}).get(len(known))
    inner = ", ".join([*known, *([] if added is None else [added])])
    name = name.upper() if name in _UPPER else _RENAMED.get(name, name)
    return f"{name}({'DISTINCT ' * distinct}{inner})"


_BY_TYPE = frozenset({"lpad", "rpad", "to_char", "to_varchar"})


def _by_type(name: str, parts: Sequence[Typed], known: list[str]) -> str | None:
    """Functions that are another one for another type of their first argument."""
    kind = parts[0].type if parts else None
    if kind is None or len(known) < 2:
        return None
    if name in ("lpad", "rpad"):
        if len(known) == 2:
            if kind != types.BINARY and not kind.is_string:
                return None
            known = [*known, "X'00'" if kind == types.BINARY else " "]
        return f"{name}({', '.join(known)})"
    if kind == types.BINARY or len(known) > 2:
        return None
    dates = kind.name.startswith(("date", "timestamp"))
    return f"{'date_format' if dates else 'to_char'}({', '.join(known)})"
