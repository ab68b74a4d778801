"""Relations: what stands in FROM, by Spark's rule ``relation``. Samples are read and dropped."""

from __future__ import annotations

from sqlrewrite.sql.types.syntax import tree
from sqlrewrite.sql.types.syntax.cursor import CLAUSES, STRICT_NON_RESERVED, UnsupportedSyntaxError
from sqlrewrite.sql.types.syntax.expressions import ExpressionReader

_JOINS = (
    *((("LEFT", word), word.lower()) for word in ("SEMI", "ANTI")),
    *(((side, "OUTER"), side.lower()) for side in ("LEFT", "RIGHT", "FULL")),
    *(((it,), it.lower()) for it in "INNER CROSS LEFT RIGHT FULL SEMI ANTI".split()),
    ((), "inner"),
)
"""The words of a join, the longest first, and its kind."""
_NO_ALIAS = CLAUSES | STRICT_NON_RESERVED


class RelationReader(ExpressionReader):
    """Reads relations."""

    def reference(self) -> tuple[str, ...]:
        """``identifierReference``: the name of a table."""
        if self.peek("IDENTIFIER", "("):
            raise UnsupportedSyntaxError("a computed name")
        return self.qualified()

    def source(self) -> tree.WrittenRelation:
        """What stands behind FROM."""
        found = self._relation()
        while self.take(","):
            found = tree.WrittenJoin(found, self._relation(), "cross")
        while self.peek("LATERAL", "VIEW"):
            found = self.lateral_view(found)
        return self.extended(found)

    def _relation(self) -> tree.WrittenRelation:
        lateral = self.peek("LATERAL") and not self.peek("LATERAL", "VIEW") and self.take("LATERAL")
        return self.extended(self._relation_primary(bool(lateral)))

    def extended(self, found: tree.WrittenRelation) -> tree.WrittenRelation:
        """A relation with the joins and pivots that follow it."""
        while True:
            if self.peek("PIVOT", "("):
                found = self._pivot(found)
            elif self.peek("UNPIVOT"):
                found = self._unpivot(found)
            else:
                joined = self._join(found)
                if joined is None:
                    return found
                found = joined

    def _join(self, left: tree.WrittenRelation) -> tree.WrittenRelation | None:
        before = self.at
        natural = self.take("NATURAL")
        kind = next(kind for words, kind in _JOINS if not words or self.take(*words))
        if not self.take("JOIN"):
            self.at = before
            return None
        right = self._relation_primary(self.take("LATERAL"))
        using: tuple[str, ...] = ()
        condition = None
        if self.take("ON"):
            condition = self.expression()
        elif self.take("USING"):
            using = self.parenthesized(self.name)
        return tree.WrittenJoin(left, right, kind, natural, using, condition)

    def _relation_primary(self, lateral: bool) -> tree.WrittenRelation:
        if self.peek("("):
            return self._in_parentheses(lateral)
        if self.peek("VALUES") and self.ahead(1).text != ".":
            return self.values()
        if self.token.kind not in self.names:
            raise UnsupportedSyntaxError(f"a relation wanted at {self.token.start}")
        parts = self.reference()
        if self.peek("("):
            return self._aliased(self.call(parts))
        self.take("FOR")
        if self.any_of("VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME"):
            self.expect("AS", "OF")
            self.value()
        self.sample()
        return self._aliased(tree.TableName(parts))

    def _in_parentheses(self, lateral: bool) -> tree.WrittenRelation:
        def derived() -> tree.WrittenRelation:
            query = self.in_parentheses(self.query)
            self.sample()
            return self._aliased(tree.WrittenDerived(query, lateral))

        found = self.attempt(derived)
        if found is not None:
            return found
        relation = self.in_parentheses(self._relation)
        self.sample()
        return self._aliased(relation)

    def _aliased(self, found: tree.WrittenRelation) -> tree.WrittenRelation:
        """A relation with the alias that follows it, if one does."""
        name = self.alias_name(_NO_ALIAS)
        if name is None:
            return found
        return tree.Aliased(found, name, self.parenthesized(self.name) if self.peek("(") else ())

    def sample(self) -> None:
        """TABLESAMPLE, if it follows."""
        if not self.take("TABLESAMPLE"):
            return
        if not self.peek("("):
            raise UnsupportedSyntaxError("a sample without its size")
        self.skip_parentheses()
        if self.take("REPEATABLE"):
            self.skip_parentheses()

    def values(self) -> tree.WrittenRelation:
        """VALUES with its rows."""
        self.expect("VALUES")
        return self._aliased(tree.Values(self.comma_separated(self.expression)))

    def lateral_view(self, source: tree.WrittenRelation) -> tree.WrittenRelation:
        """LATERAL VIEW over a relation."""
        self.expect("LATERAL", "VIEW")
        self.take("OUTER")
        call = self.call(self.qualified())
        table = self.name()
        columns: tuple[str, ...] = ()
        if self.take("AS") or (self.token.kind in self.names and self.token.word not in _NO_ALIAS):
            columns = self.comma_separated(self.name)
        return tree.WrittenJoin(source, tree.Aliased(call, table, columns), "cross")

    def _pivot(self, source: tree.WrittenRelation) -> tree.WrittenRelation:
        self.expect("PIVOT", "(")
        aggregates = self.comma_separated(self.item)
        self.expect("FOR")
        columns = self.parenthesized(self.name) if self.peek("(") else (self.name(),)
        self.expect("IN")
        values = self.parenthesized(self.item)
        self.expect(")")
        return self._aliased(tree.Pivot(source, aggregates, columns, values))

    def _unpivot(self, source: tree.WrittenRelation) -> tree.WrittenRelation:
        self.expect("UNPIVOT")
        if self.any_of("INCLUDE", "EXCLUDE"):
            self.expect("NULLS")
        self.expect("(")
        several = self.peek("(")
        values = self.parenthesized(self.name) if several else (self.name(),)
        self.expect("FOR")
        name = self.name()
        self.expect("IN")

        def one() -> tuple[tuple[str, ...], ...]:
            found = self.parenthesized(self.qualified) if several else (self.qualified(),)
            self.alias_name(_NO_ALIAS)
            return found

        sets = self.parenthesized(one)
        self.expect(")")
        return self._aliased(tree.Unpivot(source, values, name, sets))
