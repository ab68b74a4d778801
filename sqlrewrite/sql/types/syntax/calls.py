"""Calls of functions, windows, and the functions that have a syntax of their own."""

from __future__ import annotations

from collections.abc import Callable

from sqlrewrite.sql.types.syntax import tree
from sqlrewrite.sql.types.syntax.cursor import SyntaxCursor, UnsupportedSyntaxError

_FIELDS = frozenset(
    "YEAR QUARTER MONTH WEEK DAY DAYOFYEAR HOUR MINUTE SECOND MILLISECOND MICROSECOND".split()
)
_ADD = frozenset({"TIMESTAMPADD", "DATEADD", "DATE_ADD"})
_DIFFERENCE = frozenset({"TIMESTAMPDIFF", "DATEDIFF", "DATE_DIFF", "TIMEDIFF"})


class CallReader(SyntaxCursor):
    """Reads calls; ``ExpressionReader`` reads their arguments."""

    def expression(self) -> tree.Expr:
        """Any expression."""
        raise NotImplementedError

    def value(self, level: int = 0) -> tree.Expr:
        """An expression without AND, OR, NOT and predicates."""
        raise NotImplementedError

    def item(self) -> tree.WrittenItem:
        """An expression with its alias."""
        raise NotImplementedError

    def call(self, name: tuple[str, ...]) -> tree.WrittenCall:
        """A call, from its arguments on."""
        if name[-1].upper() == "IDENTIFIER":
            raise UnsupportedSyntaxError("a computed name")
        self.expect("(")
        distinct = False
        arguments: tuple[tree.Expr, ...] = ()
        if not self.peek(")"):
            if self.ahead(1).text not in (",", ")", "."):
                distinct = self.any_of("DISTINCT", "ALL") == "DISTINCT"
            arguments = self.comma_separated(self._argument)
        self.take("IGNORE", "NULLS")
        self.expect(")")
        within: tuple[tree.Order, ...] = ()
        if self.take("WITHIN", "GROUP"):
            within = self.in_parentheses(lambda: self.comma_separated(self.sort_key), "ORDER", "BY")
        kept = None
        if self.peek("FILTER", "("):
            self.at += 1
            kept = self.in_parentheses(self.expression, "WHERE")
        _ = self.take("IGNORE", "NULLS") or self.take("RESPECT", "NULLS")
        over = self.window() if self.take("OVER") else None
        return tree.WrittenCall(name, arguments, distinct, within, kept, over)

    def _argument(self) -> tree.Expr:
        if self.ahead(1).text == "=>" and self.token.kind in self.names:
            name = self.name()
            self.expect("=>")
            return tree.SpecialForm("=>", (self._argument(),), name)
        if self.peek("TABLE") and (self.ahead(1).text == "(" or self.ahead(1).kind in self.names):
            raise UnsupportedSyntaxError("a table as an argument")
        return self.expression()

    def sort_key(self) -> tree.Order:
        """A key of ORDER BY."""
        key = self.expression()
        descending = self.any_of("ASC", "DESC") == "DESC"
        nulls = "LAST" if descending else "FIRST"
        if self.take("NULLS"):
            nulls = self.any_of("FIRST", "LAST") or nulls
        return tree.Order(key, descending, nulls)

    def window(self) -> tree.WrittenWindow:
        """A window behind OVER, or in WINDOW."""
        if not self.take("("):
            return tree.WrittenWindow(self.name())
        if self.ahead(1).text == ")" and self.token.kind in self.names:
            name = self.name()
            self.expect(")")
            return tree.WrittenWindow(name)
        partition: tuple[tree.Expr, ...] = ()
        order: tuple[tree.Order, ...] = ()
        if self.any_of("CLUSTER", "PARTITION", "DISTRIBUTE"):
            self.expect("BY")
            partition = self.comma_separated(self.expression)
        if self.any_of("ORDER", "SORT"):
            self.expect("BY")
            order = self.comma_separated(self.sort_key)
        frame = None
        unit = self.any_of("RANGE", "ROWS")
        if unit:
            if self.take("BETWEEN"):
                start = self._bound()
                self.expect("AND")
                frame = tree.Frame(unit, start, self._bound())
            else:
                frame = tree.Frame(unit, self._bound(), (None, "CURRENT ROW"))
        self.expect(")")
        return tree.WrittenWindow(None, partition, order, frame)

    def _bound(self) -> tuple[tree.Expr | None, str]:
        if self.take("CURRENT", "ROW"):
            return None, "CURRENT ROW"
        value = None if self.take("UNBOUNDED") else self.expression()
        word = self.any_of("PRECEDING", "FOLLOWING")
        if word is None:
            raise UnsupportedSyntaxError("PRECEDING or FOLLOWING wanted")
        return value, f"UNBOUNDED {word}" if value is None else word

    # --- functions with a syntax of their own: what stands in their parentheses -------------------

    def _cast(self, word: str) -> tree.Expr:
        operand = self.expression()
        self.expect("AS")
        return tree.WrittenCast(operand, self.type_text(), word == "TRY_CAST")

    def _struct(self) -> tree.Expr:
        return tree.WrittenRow(
            () if self.peek(")") else self.comma_separated(self.item), written=True
        )

    def _extract(self, word: str) -> tree.Expr:
        field = self.name()
        self.expect("FROM")
        return tree.SpecialForm(word, (self.value(),), field)

    def _called(self, name: str, *words: str, last: tuple[str, ...]) -> tree.Expr:
        return tree.WrittenCall((name,), self._values(*words, last=last))

    def _trim(self, word: str) -> tree.Expr:
        side = self.any_of("BOTH", "LEADING", "TRAILING")
        what = () if self.peek("FROM") else (self.value(),)
        self.expect("FROM")
        return tree.SpecialForm(word, (*what, self.value()), side or "BOTH")

    def _with_unit(self, word: str) -> tree.Expr:
        if self.token.word not in _FIELDS:
            raise UnsupportedSyntaxError("a unit wanted")
        unit = self.name()
        self.expect(",")
        name = "TIMESTAMPADD" if word in _ADD else "TIMESTAMPDIFF"
        return tree.SpecialForm(name, self._values(","), unit)

    def _values(self, *words: str, last: tuple[str, ...] = ()) -> tuple[tree.Expr, ...]:
        """Values with these words between them, and one more behind one of the ``last``."""
        found = [self.value()]
        for word in words:
            self.expect(word)
            found.append(self.value())
        if self.any_of(*last):
            found.append(self.value())
        return tuple(found)


SyntaxRule = Callable[[CallReader, str], tree.Expr]

SYNTAX: dict[str, SyntaxRule] = {
    **dict.fromkeys(("CAST", "TRY_CAST"), CallReader._cast),
    "STRUCT": lambda it, _: it._struct(),
    "POSITION": lambda it, word: tree.SpecialForm(word, it._values("IN")),
    "EXTRACT": CallReader._extract,
    "SUBSTR": lambda it, _: it._called("substring", "FROM", last=("FOR", ",")),
    "SUBSTRING": lambda it, _: it._called("substring", "FROM", last=("FOR", ",")),
    "TRIM": CallReader._trim,
    "OVERLAY": lambda it, _: it._called("overlay", "PLACING", "FROM", last=("FOR",)),
    **dict.fromkeys(_ADD | _DIFFERENCE, CallReader._with_unit),
}
"""The rules of functions that have a syntax of their own, by their names."""
