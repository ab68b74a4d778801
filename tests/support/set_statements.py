"""Texts that change settings, with the type that a query has behind them: Spark's own answers, as
``tests/spark/test_spark_set_statements.py`` asks for them."""

from __future__ import annotations

from dataclasses import dataclass

_SUM = "SELECT '1' + 1 AS x"
_QUOTED = 'SELECT "day" AS x FROM sales'
_SPAN = "SELECT INTERVAL '1' DAY AS x"
_ANSI, _QUOTES = "spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers"


@dataclass(frozen=True, slots=True)
class SetText:
    """Statements, run under ANSI mode; a query behind them and the type of its column ``x``, None
    where Spark refuses a statement; and whether ``outputs`` knows it. It does not know what a RESET
    of ANSI mode gives, which is on in Spark 4 and off in 3.5: ``older`` is the type then."""

    text: str
    query: str
    type: str | None
    certain: bool = True
    older: str = ""


SET_TEXTS = (
    SetText(f"SET {_ANSI}", _SUM, "bigint"),
    SetText(f"SET {_ANSI} = FALSE", _SUM, "double"),
    SetText(f"SET `{_ANSI}` = `false`", _SUM, "double"),
    SetText("SET SPARK.SQL.ANSI.ENABLED = false", _SUM, "bigint", certain=False),
    SetText(f"SET {_ANSI} = 'false'", _SUM, None, certain=False),
    SetText(f"SET {_ANSI} = false; RESET", _SUM, "bigint", certain=False, older="double"),
    SetText(f"SET {_ANSI} = false; RESET {_ANSI}", _SUM, "bigint", certain=False, older="double"),
    SetText(f"SET {_ANSI} = false; RESET `{_ANSI}`", _SUM, "bigint", certain=False, older="double"),
    SetText(f"RESET {_ANSI}", _SUM, "bigint", certain=False, older="double"),
    SetText(f"RESET {_ANSI}", "SELECT 1 AS x", "int"),
    SetText(f"RESET {_ANSI}; SET {_ANSI} = false", _SUM, "double"),
    SetText(f"SET {_ANSI} = false; RESET {_QUOTES}", _SUM, "double"),
    SetText(f"SET {_ANSI} = false; RESET /* all */", _SUM, None, certain=False),
    SetText(f"SET {_ANSI} = false; RESET SPARK.sql.ansi.enabled", _SUM, "double"),
    SetText(f"SET {_QUOTES} = true; RESET {_ANSI}", _QUOTED, "int", certain=False, older="string"),
    SetText(f"SET {_QUOTES} = true; RESET", _QUOTED, "string"),
    SetText("SET spark.sql.legacy.interval.enabled = true; RESET", _SPAN, "interval day"),
    SetText(
        f"SET spark.sql.legacy.new = true; RESET {_ANSI}", "SELECT 1 AS x", "int", certain=False
    ),
)
