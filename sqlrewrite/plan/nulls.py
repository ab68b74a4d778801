"""Which conditions reject NULLs: false or unknown wherever a relation's columns are all NULL.

Such a condition above an outer join makes it an inner one (Galindo-Legaria and Rosenthal 1997;
Spark's EliminateOuterJoin). Only what is listed here rejects; anything else is taken not to.
"""

from __future__ import annotations

from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Literal, Subquery, Unknown
from sqlrewrite.plan.facts.functions import function

# Constants that are surely not NULL; a cast one (`CAST('x' AS INT)`) can be.
_GIVEN = ("string", "number", "boolean")


def rejects_null(condition: Expression, relations: frozenset[int]) -> bool:
    """Whether a condition cannot hold where every column of ``relations`` is NULL."""
    match condition:
        case Call(name="and", args=args):
            return any(rejects_null(arg, relations) for arg in args)
        case Call(name="or", args=args):
            return all(rejects_null(arg, relations) for arg in args)
        case Call(name="not", args=(Call(name="isnull", args=(inner,)),)):
            return null_from(inner, relations)
        case Call(name="<=>", args=(one, other)):
            return any(
                null_from(a, relations) and isinstance(b, Literal) and b.kind in _GIVEN
                for a, b in ((one, other), (other, one))
            )
        case Call(name="between", args=args):
            return any(null_from(arg, relations) for arg in args)
        case Subquery(kind="in", operand=operand) if operand is not None:
            return null_from(operand, relations)
        case _:
            return null_from(condition, relations)


def null_from(expression: Expression, relations: frozenset[int]) -> bool:
    """Whether an expression is surely NULL where every column of ``relations`` is."""
    match expression:
        case ColumnRef(relation=relation):
            return relation in relations
        case Cast(operand=operand):
            return null_from(operand, relations)
        case Call(name="not", args=(Subquery(),)):
            return False  # NULL NOT IN (an empty set) is true
        case Call(name=name, args=args):
            found = function(name)
            if found is None or found.kind not in ("operator", "scalar"):
                return False
            if any(isinstance(arg, Unknown) or getattr(arg, "name", "") == "any" for arg in args):
                return False  # NULL > ALL (an empty set) is true
            return any(
                found.null_from(at) and null_from(arg, relations) for at, arg in enumerate(args)
            )
        case _:
            return False
