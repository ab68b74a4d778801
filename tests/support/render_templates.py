"""Templates rendered as dbt, Spark and Databricks do: the text that is run.

In: a text with templates. Out: what Jinja makes of it under the names below; ``${x}`` replaced, and
a notebook's cells ended by semicolons. None of it knows the rewriter's own reading of templates.
"""

from __future__ import annotations

import re
from dataclasses import replace

from jinja2 import Environment, StrictUndefined

from sqlrewrite.results import Rewrite

_NUMBERED = "row_number() OVER (PARTITION BY s.item ORDER BY s.day, s.id, s.qty, s.amt, s.store)"
_VALUES = {
    "year": "2024",
    "last_year": "2023",
    "years": "2023, 2024",
    "season": "winter",
    "cte": "c",
    "end": "es",
    "word": "'winter'",
    "mer": "mer",
    "low": "1",
    "least": "1",
    "high": "3",
    "limit": "3",
    "lines": "2023\n   OR d.month = 1",
    "condition": "d.month = 1 OR s.qty > 1",
    "numbered": _NUMBERED,
}


def rendered(text: str, *, trims: bool = False, strips: bool = False, **values: str) -> str:
    """The text that is run; one without templates is that itself. ``trims`` and ``strips`` are
    Jinja's ``trim_blocks`` and ``lstrip_blocks``, ``values`` those of more variables."""
    names = {**_VALUES, **values}
    if text.startswith("-- Databricks notebook source"):
        text = re.sub(r"(?m)^-- COMMAND -+", ";", text)
    text = re.sub(r"\$\{(?:\w+:)?(\w+)\}", lambda match: names[match.group(1)], text)
    if not re.search(r"\{[{%#]", text):
        return text
    jinja = Environment(
        undefined=StrictUndefined,
        newline_sequence="\n",
        keep_trailing_newline=True,
        trim_blocks=trims,
        lstrip_blocks=strips,
    )
    return jinja.from_string(text).render(
        ref=_relation,
        source=_relation,
        var=lambda name, default=None: names.get(name, default),
        config=lambda **settings: "",
        recent=lambda: "d.month = 1 OR s.qty > 1",
        numbered=lambda: _NUMBERED,
        this_year=lambda: "2024",
        some_years=lambda: "(2023, 2024)",
        counted_items=lambda: "SELECT item, count(*) AS n FROM sales GROUP BY item",
        how_many=lambda: "(SELECT count(*) FROM b)",
        counted=lambda: "SELECT b.item, count(*) AS n FROM b GROUP BY b.item",
        ds="2024-01-01",
        **values,
    )


def rendered_result(result: Rewrite) -> Rewrite:
    """A result with its texts rendered."""
    candidates = tuple(
        replace(c, predicate=None if c.predicate is None else rendered(c.predicate))
        for c in result.candidates
    )
    return replace(result, sql=rendered(result.sql), candidates=candidates)


def _relation(*names: str) -> str:
    return f"spark_catalog.`default`.`{names[-1]}`"
