"""Asks Spark whether each row of the table of functions is true: ``rules/functions/spark.toml``.

    python -m benchmarks.functions [NAME …]

Each function is called over rows of values chosen to break it, with ANSI mode on and off. What
Spark does is compared with what the row says: its kind, whether it is deterministic, whether it
gives another value in another order of the rows or another time zone, what NULL gives, whether it
raises an error, and the type of its result. A row that promises what was seen to fail is wrong; one
that promises less than was seen refuses for nothing, unless ``[careful]`` in ``functions.toml`` has
it. Prints what is wrong, and the counts.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.progress import with_progress
from sqlrewrite.plan.facts.functions import (
    AGAIN,
    RAISES,
    Arguments,
    Function,
    SignatureParameter,
    function,
    names,
    signature,
)
from sqlrewrite.plan.facts.result_types import result_type_of
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import ExactSettings, Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TAME = 3
"""So many values of each type break nothing."""

_SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
}
_ELSEWHERE = "Asia/Kathmandu"
"""A time zone that is no whole number of hours from UTC."""

_PLACE = re.compile(r"\{([^}]+)\}")
_ARGUMENT = re.compile(r"\{([^}]+)\}|('[^']*')|(-?\d+)(?![\w.])")


@cache
def _asked(section: str) -> dict[str, str]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    answers: dict[str, str] = tomllib.loads(text)[section]
    return answers


# --- calls ----------------------------------------------------------------------------------------

_CHOICES = {
    "number": ("int", "double", "bigint", "decimal(10,2)", "interval day to second"),
    "integral": ("int", "bigint", "tinyint"),
    "long": ("int", "bigint"),
    "text": ("string", "binary"),
    "any": ("int", "string", "double", "date", "array<int>", "timestamp", "boolean"),
    "array<any>": ("array<int>", "array<string>"),
    "array<a>": ("array<int>", "array<string>", "array<double>"),
    "array<k>": ("array<int>", "array<string>"),
    "array<v>": ("array<string>", "array<int>"),
    "map<k,v>": ("map<int,string>",),
    "array<array<a>>": ("array<array<int>>",),
}
_LETTERS = ("int", "string", "double", "decimal(10,2)", "date")
_TURNS = 3


def calls(row: Function) -> tuple[str, ...]:
    """Calls of a function: ``abs({int})`` is one with a column of integers."""
    special = _asked("calls").get(row.name)
    if special is not None:
        return tuple(special.split("|"))
    form = signature(row.signature)
    whole, least = (
        [*form.parameters],
        [parameter for parameter in form.parameters if not parameter.optional],
    )
    if whole and whole[-1].repeated:
        whole.append(whole[-1])
    texts = [
        _call(
            row,
            [f"{{{_type(parameter, turn, at)}}}" for at, parameter in enumerate(parameters)],
        )
        for turn in range(_TURNS)
        for parameters in (whole, least)
    ]
    return tuple(dict.fromkeys(texts))


def _call(row: Function, arguments: list[str]) -> str:
    if row.kind == "operator" and len(arguments) == 2:
        return f"{arguments[0]} {row.name} {arguments[1]}"
    over = " OVER (ORDER BY {int})" if row.kind == "window" else ""
    return f"{row.name}({', '.join(arguments)}){over}"


def _type(parameter: SignatureParameter, turn: int, position: int) -> str:
    pattern = parameter.pattern
    if len(pattern) == 1:
        return _LETTERS[turn % len(_LETTERS)]
    choices = _CHOICES.get(pattern, (pattern,))
    return choices[(turn + position * (pattern == "any")) % len(choices)]


def _values(kind: str) -> list[str]:
    text = _asked("values")[kind]
    return [part for part in text.split("\n") if part] if kind == "string" else text.split()


Rows = tuple[tuple[str, ...], ...]


@cache
def _rows(call: str, *, tame: bool) -> Rows:
    """Each value at each place, with tame ones and with NULL at the others."""
    columns = [["NULL", *_values(kind)] for kind in _PLACE.findall(call)]
    rows: list[tuple[str, ...]] = []
    if tame:
        columns = [column[: TAME + 1] for column in columns]
    for at, column in enumerate(columns):
        for value in column:
            for turn in range(TAME):
                others = [those[(turn + place) % TAME] for place, those in enumerate(columns)]
                rows.append((*others[:at], value, *others[at + 1 :]))
    return tuple(dict.fromkeys(rows))


# --- asking ---------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What was seen of a function: the calls that Spark took, and what they did."""

    calls: list[str] = field(default_factory=list)
    kind: str = ""
    deterministic: bool = True
    raised: dict[bool, str] = field(default_factory=dict)
    loose: set[int] = field(default_factory=set)
    """The arguments of which a NULL was seen to give another value than NULL."""
    nulls_asked: bool = False
    ever_null: bool = False
    again: dict[str, str] = field(default_factory=dict)
    types: list[tuple[str, bool, str]] = field(default_factory=list)


class Spark:
    """A Spark session that is asked; its settings are changed."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._views: dict[tuple[tuple[str, ...], Rows], str] = {}
        for key, value in _SETTINGS.items():
            session.conf.set(key, value)

    def set_ansi(self, on: bool) -> None:
        """Sets ANSI mode."""
        self.session.conf.set("spark.sql.ansi.enabled", str(on).lower())

    def frame(self, call: str, rows: Rows, shown: str = "{}") -> DataFrame:
        """The call over rows of values; ``shown`` is what is selected of it."""
        text = call
        for at in range(len(_PLACE.findall(call))):
            text = _PLACE.sub(f"x{at + 1}", text, count=1)
        kinds = tuple(_PLACE.findall(call))
        view = self._views.get((kinds, rows))
        if view is None:
            view = self._views[kinds, rows] = f"rows_{len(self._views)}"
            self.session.sql(_table(kinds, rows)).createOrReplaceTempView(view)
        return self.session.sql(f"SELECT {shown.replace('{}', text)} FROM {view}")


def _table(kinds: tuple[str, ...], rows: Rows) -> str:
    """A query with rows of values."""
    columns = [f"x{at + 1}" for at in range(len(kinds))] or ["x"]
    cast = ", ".join(f"CAST(x{at + 1} AS {kind}) AS x{at + 1}" for at, kind in enumerate(kinds))
    written = [
        ", ".join(
            f"CAST({value} AS {kind})" if value[0] in "amN" else value
            for value, kind in zip(row, kinds, strict=True)
        )
        for row in dict.fromkeys(rows)
    ]
    listed = ", ".join(f"({row})" for row in written) if kinds else "(1)"
    return f"SELECT {cast or 'x'} FROM VALUES {listed} AS t({', '.join(columns)})"


def look(spark: Spark, row: Function) -> Seen:
    """What Spark does of a function."""
    seen = Seen()
    for on in (True, False):
        spark.set_ansi(on)
        for call in calls(row):
            try:
                frame = spark.frame(call, _rows(call, tame=True))
            except Exception:
                continue
            if call not in seen.calls:
                seen.calls.append(call)
            _analyzed(call, frame, on, seen)
            if on or True in seen.raised:  # what raises without ANSI mode raises with it
                _raised(spark, call, on, seen)
            if row.kind == "aggregate":
                _nulls_of_aggregate(spark, call, seen)
            elif row.kind in ("operator", "scalar", "syntax"):
                _nulls(spark, call, seen)
    for number, call in enumerate(seen.calls):
        if number < 3 and row.kind != "generator":
            _again(spark, call, seen, turned=row.kind in ("aggregate", "window"))
    return seen


def _analyzed(call: str, frame: DataFrame, on: bool, seen: Seen) -> None:
    plan = frame._jdf.queryExecution().analyzed()
    shown = plan.toString()
    if not seen.kind:
        if "OVER (" in call:
            seen.kind = "window"
        elif shown.startswith("Aggregate"):
            seen.kind = "aggregate"
        else:
            seen.kind = "generator" if "Generate " in shown else "scalar"
        expressions = plan.expressions()
        each = (expressions.apply(at) for at in range(expressions.size()))
        seen.deterministic = all(text.deterministic() for text in each)
    schema = frame._jdf.schema()
    kind = schema if seen.kind == "generator" else schema.fields()[0].dataType()
    seen.types.append((call, on, kind.simpleString()))


def _raised(spark: Spark, call: str, on: bool, seen: Seen) -> None:
    if on in seen.raised:
        return
    try:
        frame = spark.frame(call, _rows(call, tame=False))
        # The optimizer itself computes what is asked of rows that stand in the query.
        if not frame._jdf.queryExecution().optimizedPlan().toString().startswith("LocalRelation"):
            frame.write.format("noop").mode("overwrite").save()
    except Exception as error:
        seen.raised[on] = f"{call}: {str(error).strip().partition(chr(10))[0]}"


def _nulls(spark: Spark, call: str, seen: Seen) -> None:
    kinds = _PLACE.findall(call)
    shown = ", ".join([f"x{at + 1} IS NULL" for at in range(len(kinds))] + ["({}) IS NULL"])
    for tame in (False, True):
        try:
            rows = spark.frame(call, _rows(call, tame=tame), shown).collect()
        except Exception:
            continue
        seen.loose |= {at for row in rows for at in range(len(kinds)) if row[at] and not row[-1]}
        seen.ever_null |= any(row[-1] for row in rows)
        seen.nulls_asked = True
        return


def _nulls_of_aggregate(spark: Spark, call: str, seen: Seen) -> None:
    kinds = _PLACE.findall(call)
    try:
        none = spark.frame(call, (("NULL",) * len(kinds),), "({}) IS NULL").collect()
        some = spark.frame(call, _rows(call, tame=True), "({}) IS NULL").collect()
    except Exception:
        return
    seen.loose |= set() if none[0][0] else {0}
    seen.ever_null |= none[0][0] or some[0][0]
    seen.nulls_asked = True


def _again(spark: Spark, call: str, seen: Seen, *, turned: bool) -> None:
    """Asks a second time, in another time zone, and, of what sees many rows, with these turned."""
    kinds = _PLACE.findall(call)
    rows = _rows(call, tame=True)
    if turned:
        listed = [(_asked("ordered").get(kind) or _asked("values")[kind]).split() for kind in kinds]
        rows = tuple(zip(*listed, strict=False))
    kind = next(kind for typed, _, kind in seen.types if typed == call)
    shown = "unix_micros({})" if kind == "timestamp" else "{}"
    try:
        first = _answer(spark, call, rows, shown)
        changes = {
            "query": _answer(spark, call, rows, shown),
            "order": _answer(spark, call, rows[::-1] if turned else rows, shown),
        }
        spark.session.conf.set("spark.sql.session.timeZone", _ELSEWHERE)
        changes["zone"] = _answer(spark, call, rows, shown)
    except Exception:
        return
    finally:
        spark.session.conf.set("spark.sql.session.timeZone", "UTC")
    seen.again[call] = next((why for why, answer in changes.items() if answer != first), "same")


def _answer(spark: Spark, call: str, rows: Rows, shown: str) -> list[str]:
    text = shown if "unix" in shown else "to_json(struct({} AS it), map('timeZone', 'UTC'))"
    try:
        return sorted(repr(row[0]) for row in spark.frame(call, rows, text).collect())
    except Exception:
        return sorted(repr(row[0]) for row in spark.frame(call, rows).collect())


# --- judging --------------------------------------------------------------------------------------


def complaints(row: Function, seen: Seen) -> Iterator[tuple[str, str]]:
    """What a row says otherwise than was seen: the column, and a sentence."""
    if not seen.calls:
        return
    kind = "scalar" if row.kind in ("operator", "syntax") else row.kind
    if seen.kind != kind:
        yield "kind", f"{row.kind}, and Spark has it as {seen.kind}"
    if not seen.deterministic and row.deterministic:
        yield "again", f"{row.again}, and Spark has it as not deterministic"
    yield from _judged_again(row, seen)
    raised = "always" if False in seen.raised else "ansi" if True in seen.raised else "never"
    if row.raises != raised:
        why = seen.raised.get(False) or seen.raised.get(True) or "no value made it fail"
        yield _column("raises", RAISES, row.raises, raised), f"{row.raises}: {why}"
    nulls = _nulls_seen(seen)
    if seen.nulls_asked and row.nulls != nulls:
        yield "nulls" if row.nulls != "-" else "nulls-", f"{row.nulls}, and seen: {nulls}"
    for call, on, text in seen.types:
        type_ = expected(row, call, on)
        if type_ is not None and str(type_) != text:
            yield "result", f"{type_} of {call}, ANSI {on}, and it is {text}"


def _judged_again(row: Function, seen: Seen) -> Iterator[tuple[str, str]]:
    if not seen.deterministic or not seen.again:
        if row.again == "varies" and seen.deterministic:
            yield "again-", "varies, and Spark has it as deterministic"
        return
    changes = set(seen.again.values())
    of_floats = {why for call, why in seen.again.items() if re.search("double|float", call)}
    others = {why for call, why in seen.again.items() if not re.search("double|float", call)}
    if row.again == "exact" and (others - {"same"} or of_floats == {"same"}):
        yield "again", f"exact, and seen: {seen.again}"
    elif row.again == "order" and of_floats == {"order"} and others == {"same"}:
        yield "again-", f"order, and seen of floats alone: {seen.again}"
    elif row.again != "exact":
        strongest = max(changes, key=AGAIN.index)
        if strongest != row.again:
            column = _column("again", AGAIN, row.again, strongest)
            yield column, f"{row.again}, and seen: {strongest} ({seen.again})"


def _column(name: str, words: tuple[str, ...], said: str, seen: str) -> str:
    """The column's name, with a minus where the row only promises less than was seen."""
    return f"{name}-" if words.index(said) > words.index(seen) else name


def _nulls_seen(seen: Seen) -> str:
    if not seen.ever_null:
        return "never"
    if not seen.loose:
        return "all"
    return ",".join(str(at + 1) for at in range(min(seen.loose))) or "-"


def expected(row: Function, call: str, on: bool) -> Type | None:
    """The type that we give a call, if its arguments are columns and literals."""
    infix = re.fullmatch(r"(\{[^}]+\}) (\S+) (\{[^}]+\})", call)
    plain = re.fullmatch(rf"{re.escape(row.name)}\((.*)\)( OVER .*)?", call)
    if infix is None and plain is None:
        return None
    inside = f"{infix[1]}, {infix[3]}" if infix is not None else plain[1] if plain else ""
    others = _ARGUMENT.sub("", inside).replace(",", "").strip()
    if others:
        return None
    parts = [match.groups() for match in _ARGUMENT.finditer(inside)]
    types = tuple(parse(kind or ("string" if text else "int")) for kind, text, _ in parts)
    literals = tuple(text[1:-1] if text else number or None for _, text, number in parts)
    return result_type_of(row, Arguments(types, ExactSettings(ansi=on), literals))


def judged(row: Function, seen: Seen) -> list[str]:
    """The complaints of a row, without those that it is careful about."""
    careful = _asked("careful").get(row.name, "").split()
    return [
        f"{row.name}: {column.rstrip('-')} is {sentence}"
        for column, sentence in complaints(row, seen)
        if not (column.endswith("-") and column[:-1] in careful)
    ]


def main(wanted: list[str], session: SparkSession) -> int:
    """Asks about the functions of those names, or all."""
    spark, counts = Spark(session), Counter[str]()
    for name in with_progress(wanted or sorted(names()), "functions"):
        row = function(name)
        assert row is not None, name
        seen = look(spark, row)
        wrong = judged(row, seen)
        counts["rows"] += 1
        counts["asked" if seen.calls else "not asked"] += 1
        counts["calls"] += len(seen.types)
        counts["types given"] += sum(
            expected(row, call, on) is not None for call, on, _ in seen.types
        )
        counts["wrong"] += bool(wrong)
        for complaint in wrong:
            print(complaint, flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    from pyspark.sql import SparkSession as Session

    sys.exit(main(sys.argv[1:], Session.builder.master("local[2]").getOrCreate()))
