"""Calls of functions, windows, and the functions that have a syntax of their own."""

from __future__ import annotations

from collections.abc import Callable

from sqlrewrite.sql.types.cursor import TypeCursor
from sqlrewrite.sql.types.tokens import UnreadError
from sqlrewrite.sql.types.tree import (
    Expr,
    Frame,
    Order,
    Special,
    WrittenArgument,
    WrittenCall,
    WrittenCast,
    WrittenItem,
    WrittenRow,
    WrittenWindow,
)

_FIELDS = frozenset(
    "YEAR QUARTER MONTH WEEK DAY DAYOFYEAR HOUR MINUTE SECOND MILLISECOND MICROSECOND".split()
)
_ADD = frozenset({"TIMESTAMPADD", "DATEADD", "DATE_ADD"})
_DIFFERENCE = frozenset({"TIMESTAMPDIFF", "DATEDIFF", "DATE_DIFF", "TIMEDIFF"})


class Calls(TypeCursor):
    """Reads calls; the class that reads expressions gives what they hold."""

    def expression(self) -> Expr:
        """Any expression."""
        raise NotImplementedError

    def value(self, level: int = 0) -> Expr:
        """An expression without AND, OR, NOT and predicates."""
        raise NotImplementedError

    def item(self) -> WrittenItem:
        """An expression with its alias."""
        raise NotImplementedError

    def call(self, name: tuple[str, ...]) -> WrittenCall:
        """A call, from its arguments on."""
        if name[-1].upper() == "IDENTIFIER":
            raise UnreadError("a computed name")
        self.need("(")
        distinct = False
        arguments: tuple[Expr, ...] = ()
        if not self.peek(")"):
            if self.ahead(1).text not in (",", ")", "."):
                distinct = self.any_of("DISTINCT", "ALL") == "DISTINCT"
            arguments = self.several(self._argument)
        ignored = self.take("IGNORE", "NULLS")
        self.need(")")
        within: tuple[Order, ...] = ()
        if self.take("WITHIN", "GROUP"):
            self.need("(", "ORDER", "BY")
            within = self.several(self.sort_key)
            self.need(")")
        kept = None
        if self.peek("FILTER", "("):
            self.need("FILTER", "(", "WHERE")
            kept = self.expression()
            self.need(")")
        if self.take("IGNORE", "NULLS"):
            ignored = True
        else:
            self.take("RESPECT", "NULLS")
        over = self.window() if self.take("OVER") else None
        return WrittenCall(name, arguments, distinct, ignored, within, kept, over)

    def _argument(self) -> Expr:
        if self.ahead(1).text == "=>" and self.token.kind in self.names:
            name = self.name()
            self.need("=>")
            return WrittenArgument(name, self._argument())
        if self.peek("TABLE") and (self.ahead(1).text == "(" or self.ahead(1).kind in self.names):
            raise UnreadError("a table as an argument")
        return self.expression()

    def sort_key(self) -> Order:
        """A key of ORDER BY."""
        key = self.expression()
        descending = self.any_of("ASC", "DESC") == "DESC"
        nulls = "LAST" if descending else "FIRST"
        if self.take("NULLS"):
            nulls = self.any_of("FIRST", "LAST") or nulls
        return Order(key, descending, nulls)

    def window(self) -> WrittenWindow:
        """A window behind OVER, or in WINDOW."""
        if not self.take("("):
            return WrittenWindow(self.name())
        if self.ahead(1).text == ")" and self.token.kind in self.names:
            name = self.name()
            self.need(")")
            return WrittenWindow(name)
        partition: tuple[Expr, ...] = ()
        order: tuple[Order, ...] = ()
        if self.any_of("CLUSTER", "PARTITION", "DISTRIBUTE"):
            self.need("BY")
            partition = self.several(self.expression)
        if self.any_of("ORDER", "SORT"):
            self.need("BY")
            order = self.several(self.sort_key)
        frame = None
        unit = self.any_of("RANGE", "ROWS")
        if unit:
            if self.take("BETWEEN"):
                start = self._bound()
                self.need("AND")
                frame = Frame(unit, start, self._bound())
            else:
                frame = Frame(unit, self._bound(), (None, "CURRENT ROW"))
        self.need(")")
        return WrittenWindow(None, partition, order, frame)

    def _bound(self) -> tuple[Expr | None, str]:
        if self.take("CURRENT", "ROW"):
            return None, "CURRENT ROW"
        value = None if self.take("UNBOUNDED") else self.expression()
        word = self.any_of("PRECEDING", "FOLLOWING")
        if word is None:
            raise UnreadError("PRECEDING or FOLLOWING wanted")
        return value, f"UNBOUNDED {word}" if value is None else word

    # --- functions with a syntax of their own -----------------------------------------------------

    def _cast(self, word: str) -> Expr:
        self.need(word, "(")
        operand = self.expression()
        self.need("AS")
        to = self.type_text()
        self.need(")")
        return WrittenCast(operand, to, word == "TRY_CAST")

    def _struct(self, word: str) -> Expr:
        self.need(word, "(")
        items = () if self.peek(")") else self.several(self.item)
        self.need(")")
        if self.peek("OVER"):
            raise UnreadError("a window over STRUCT")
        return WrittenRow(items, written=True)

    def _position(self, word: str) -> Expr:
        self.need(word, "(")
        part = self.value()
        self.need("IN")
        found = Special(word, (part, self.value()))
        self.need(")")
        return found

    def _extract(self, word: str) -> Expr:
        self.need(word, "(")
        field = self.name()
        self.need("FROM")
        found = Special(word, (self.value(),), field)
        self.need(")")
        return found

    def _substring(self, word: str) -> Expr:
        self.need(word, "(")
        parts = [self.value()]
        self.need("FROM")
        parts.append(self.value())
        if self.any_of("FOR", ","):
            parts.append(self.value())
        self.need(")")
        return WrittenCall(("substring",), tuple(parts))

    def _trim(self, word: str) -> Expr:
        self.need(word, "(")
        side = self.any_of("BOTH", "LEADING", "TRAILING")
        what = () if self.peek("FROM") else (self.value(),)
        self.need("FROM")
        found = Special(word, (*what, self.value()), side or "BOTH")
        self.need(")")
        return found

    def _overlay(self, word: str) -> Expr:
        self.need(word, "(")
        parts = [self.value()]
        self.need("PLACING")
        parts.append(self.value())
        self.need("FROM")
        parts.append(self.value())
        if self.take("FOR"):
            parts.append(self.value())
        self.need(")")
        return WrittenCall((word.lower(),), tuple(parts))

    def _with_unit(self, word: str) -> Expr:
        self.need(word, "(")
        if self.token.word not in _FIELDS:
            raise UnreadError("a unit wanted")
        unit = self.name()
        self.need(",")
        first = self.value()
        self.need(",")
        name = "TIMESTAMPADD" if word in _ADD else "TIMESTAMPDIFF"
        found = Special(name, (first, self.value()), unit)
        self.need(")")
        return found


SYNTAX: dict[str, Callable[[Calls, str], Expr]] = {
    "CAST": Calls._cast,
    "TRY_CAST": Calls._cast,
    "STRUCT": Calls._struct,
    "POSITION": Calls._position,
    "EXTRACT": Calls._extract,
    "SUBSTR": Calls._substring,
    "SUBSTRING": Calls._substring,
    "TRIM": Calls._trim,
    "OVERLAY": Calls._overlay,
    **dict.fromkeys(_ADD | _DIFFERENCE, Calls._with_unit),
}
"""The rules of functions that have a syntax of their own, by their names."""
