"""Parses an edited clause again: the old tree plus exactly the added conjuncts, and nothing else.

A WHERE or ON is delimited by tokens, so parsing its condition alone sees what parsing the statement
would. A new WHERE has no condition yet: there the whole statement is parsed and compared.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlrewrite.sql.bind import conjunct_trees
from sqlrewrite.sql.parse import parse_condition, parse_tokens, tokenize


def condition_gained(before: str, after: str, predicates: list[str]) -> bool:
    """Whether the condition ``after`` is ``before`` and the predicates, as conjuncts at the top."""
    try:
        old = conjunct_trees(parse_condition(before))
        new = conjunct_trees(parse_condition(after))
        added = [parse_condition(predicate) for predicate in predicates]
    except (SqlglotError, RecursionError, ValueError):
        return False
    return new in (old + added, added + old)


def where_gained(before: str, after: str, predicates: list[str]) -> bool:
    """Whether the statement ``after`` is ``before`` with one new WHERE of just the predicates."""
    try:
        old = parse_tokens(tokenize(before), before)
        new = parse_tokens(tokenize(after), after)
        added = [parse_condition(predicate) for predicate in predicates]
    except (SqlglotError, RecursionError, ValueError):
        return False
    for where in new.find_all(exp.Where):
        if conjunct_trees(where.this) == added:
            where.pop()
            return new == old
    return False
