"""Expressions: ``booleanExpression``, ``valueExpression`` and ``primaryExpression``."""

from __future__ import annotations

from collections.abc import Callable

from sqlrewrite.sql.types.syntax import tree
from sqlrewrite.sql.types.syntax.calls import SYNTAX, CallReader, SyntaxRule
from sqlrewrite.sql.types.syntax.cursor import (
    CLAUSES,
    NUMBER,
    STRICT_NON_RESERVED,
    WORD,
    UnsupportedSyntaxError,
)

_OPERATORS = {
    operator: level
    for level, operators in enumerate(
        (
            ("=", "==", "<=>", "<>", "!=", "<", "<=", "!>", ">", ">=", "!<"),
            ("|",),
            ("^",),
            ("&",),
            ("<<", "> >", "> > >"),
            ("+", "-", "||"),
            ("*", "/", "%", "DIV"),
        )
    )
    for operator in operators
}
"""The operators of ``valueExpression``; the higher the number, the tighter they bind."""
_SAME = {"==": "=", "!=": "<>", "!>": "<=", "!<": ">=", "> >": ">>", "> > >": ">>>"}
_QUANTIFIED = frozenset(
    f"{kind} {word}" for kind in ("LIKE", "ILIKE") for word in ("ANY", "SOME", "ALL")
)
_UNITS = frozenset(
    f"{unit}{plural}"
    for unit in "NANOSECOND MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY WEEK MONTH YEAR".split()
    for plural in ("", "S")
)
_TYPED = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "TIME", "X"})
_BARE = frozenset({"CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_USER", "USER", "SESSION_USER"})


class ExpressionReader(CallReader):
    """Reads expressions; ``QueryReader`` reads the queries in them."""

    def query(self) -> tree.WrittenQuery:
        """A query."""
        raise NotImplementedError

    def expression(self) -> tree.Expr:
        """Any expression."""
        return self._joined("OR", lambda: self._joined("AND", self._negated))

    def placed(self, start: int, found: tree.Expr) -> tree.Expr:
        """An expression that was read from a token on; a subclass may note its place."""
        return found

    def item(self) -> tree.WrittenItem:
        """An expression with its alias."""
        value = self.expression()
        if self.peek("AS", "("):
            self.at += 1
            return tree.WrittenItem(value, self.parenthesized(self.name))
        if self.peek("(") and self.ahead(1).kind in self.names:
            return tree.WrittenItem(value, self.parenthesized(self.name))
        name = self.alias_name(CLAUSES | STRICT_NON_RESERVED)
        return tree.WrittenItem(value, () if name is None else (name,))

    def _joined(self, word: str, operand: Callable[[], tree.Expr]) -> tree.Expr:
        """Operands with AND or OR between them: Spark makes a balanced tree of them."""
        found = [operand()]
        while self.take(word):
            found.append(operand())

        def reduced(low: int, high: int) -> tree.Expr:
            if low == high:
                return found[low]
            middle = low + (high - low) // 2 if high - low > 1 else low
            return tree.Operation(word, (reduced(low, middle), reduced(middle + 1, high)))

        return reduced(0, len(found) - 1)

    def _negated(self) -> tree.Expr:
        if self.any_of("NOT", "!"):
            return tree.Operation("NOT", (self._negated(),))
        if self.peek("EXISTS", "(") and self._query_behind(1):
            self.at += 1
            return tree.WrittenSubquery("exists", self.in_parentheses(self.query))
        start = self.at
        return self.placed(start, self._with_predicate(self.value()))

    def _with_predicate(self, value: tree.Expr) -> tree.Expr:
        if self.take("IS"):
            return self._is(value, bool(self.any_of("NOT", "!")))
        before = self.at
        negated = bool(self.any_of("NOT", "!"))
        found = self._predicate(value)
        if found is None:
            self.at = before
            return value
        if negated and isinstance(found, tree.Operation) and found.operator in _QUANTIFIED:
            return tree.Operation(f"NOT {found.operator}", found.operands)
        return _not(negated, found)

    def _is(self, value: tree.Expr, negated: bool) -> tree.Expr:
        known = self.any_of("NULL", "UNKNOWN")
        if known:
            return tree.Operation(f"IS NOT {known}" if negated else "IS NULL", (value,))
        truth = self.any_of("TRUE", "FALSE")
        if truth:
            return _not(
                negated, tree.Operation("<=>", (value, tree.WrittenLiteral("boolean", truth)))
            )
        self.expect("DISTINCT", "FROM")
        same = tree.Operation("<=>", (value, self.value()))
        return _not(not negated, same)

    def _predicate(self, value: tree.Expr) -> tree.Expr | None:
        if self.take("BETWEEN"):
            lower = self.value()
            self.expect("AND")
            return tree.Operation("BETWEEN", (value, lower, self.value()))
        if self.take("IN"):
            if self._query_behind(0):
                return tree.WrittenSubquery("in", self.in_parentheses(self.query), value)
            return tree.Operation("IN", (value, *self.parenthesized(self.expression)))
        if self.any_of("RLIKE", "REGEXP"):
            return tree.Operation("RLIKE", (value, self.value()))
        kind = self.any_of("LIKE", "ILIKE")
        if kind is None:
            return None
        for word in ("ANY", "SOME", "ALL"):
            if self.peek(word, "("):
                self.at += 1
                patterns = self.parenthesized(self.expression)
                return tree.Operation(f"{kind} {word}", (value, *patterns))
        pattern = self.value()
        if self.take("ESCAPE"):
            return tree.SpecialForm(f"{kind} ESCAPE", (value, pattern), self.string())
        return tree.Operation(kind, (value, pattern))

    def value(self, level: int = 0) -> tree.Expr:
        """``valueExpression``, of operators that bind as tightly as those of a level."""
        start = self.at
        found = self._unary()
        while True:
            operator, length = self._operator()
            binds = _OPERATORS.get(operator, -1)
            if binds < level:
                return found
            self.at += length
            operator = _SAME.get(operator, operator)
            found = self.placed(start, tree.Operation(operator, (found, self.value(binds + 1))))

    def _operator(self) -> tuple[str, int]:
        """The operator that may be next, and of how many tokens it is: a shift is of several."""
        word = self.token.word
        if word == "|" and self.peek("|", ">"):
            return "", 0
        for length in (3, 2) if word == ">" else ():
            if self.peek(*">" * length):
                if self.ahead(length - 1).start > self.token.start + length - 1:
                    raise UnsupportedSyntaxError("a shift in two parts")
                return " ".join(">" * length), length
        return word, 1

    def _unary(self) -> tree.Expr:
        start = self.at
        if self.peek("-") and self.ahead(1).kind == NUMBER:
            return self.primary()
        sign = self.any_of("-", "+", "~")
        if sign:
            return self.placed(start, tree.Operation(f"unary {sign}", (self._unary(),)))
        return self.primary()

    def primary(self) -> tree.Expr:
        """``primaryExpression``, with all that may follow it."""
        start = self.at
        found = self.placed(start, self._atom())
        while True:
            if self.take("["):
                index = self.value()
                self.expect("]")
                found = self.placed(start, tree.Operation("[]", (found, index)))
            elif self.peek(".") and self.ahead(1).kind in self.names:
                self.at += 1
                found = self.placed(start, tree.Field(found, self.name()))
            elif self.take("::"):
                found = self.placed(start, tree.WrittenCast(found, self.type_text()))
            elif self.peek("COLLATE") and self.ahead(1).kind in self.names:
                self.at += 1
                found = tree.SpecialForm("COLLATE", (found,), ".".join(self.qualified()))
            elif self.peek(":") and (self.ahead(1).kind in self.names or self.ahead(1).text == "["):
                found = self._path(found)
            else:
                return found

    def _path(self, base: tree.Expr) -> tree.Expr:
        """A path into a variant, which is called by the last name in it."""
        self.expect(":")
        last = "" if self.peek("[") else self.name()
        while True:
            if self.take("["):
                index = self.value()
                named = isinstance(index, tree.WrittenLiteral) and index.kind == "string"
                last = index.text if named and isinstance(index, tree.WrittenLiteral) else last
                self.expect("]")
            elif self.peek(".") and self.ahead(1).kind in self.names:
                self.at += 1
                last = self.name()
            else:
                return tree.SpecialForm(":", (base,), "" if "." in last else last)

    def _atom(self) -> tree.Expr:
        token = self.token
        if token.kind in self.strings:
            parts = [self.string()]
            while self.token.kind in self.strings:
                parts.append(self.string())
            return tree.WrittenLiteral("string", "".join(parts))
        if token.kind == NUMBER or (self.peek("-") and self.ahead(1).kind == NUMBER):
            return self._number()
        if self.take("*"):
            return tree.Star((), self._excluded())
        if self.peek("("):
            return self._parenthesized()
        if self.take("?"):
            return tree.SpecialForm("PARAMETER", ())
        if self.take(":"):
            return tree.SpecialForm("PARAMETER", (), self.name())
        if token.kind == WORD:
            found = self._keyword(token.word)
            if found is not None:
                return found
        return self._named()

    def _number(self) -> tree.WrittenLiteral:
        sign = "-" if self.take("-") else ""
        text = self.token.text
        self.at += 1
        upper = text.upper()
        for suffix in ("BD", "L", "S", "Y", "D", "F"):
            if upper.endswith(suffix):
                return tree.WrittenLiteral(suffix, sign + text[: -len(suffix)])
        return tree.WrittenLiteral("number", sign + text)

    def _excluded(self) -> tuple[tuple[str, ...], ...]:
        if not self.peek("EXCEPT", "("):
            return ()
        self.at += 1
        return self.parenthesized(self.qualified)

    def _query_behind(self, count: int) -> bool:
        """Whether the parenthesis so many tokens ahead begins a query."""
        if self.ahead(count).word != "(":
            return False
        while self.ahead(count).word == "(":
            count += 1
        first, second = self.ahead(count), self.ahead(count + 1)
        if first.word in ("SELECT", "WITH", "FROM"):
            return second.text not in (",", ")", ".")
        if first.word == "TABLE":
            return second.kind in self.names
        return first.word == "VALUES" and second.text not in (",", ")", ".")

    def _parenthesized(self) -> tree.Expr:
        query = (
            self.attempt(lambda: self.in_parentheses(self.query)) if self._query_behind(0) else None
        )
        if query is not None:
            return tree.WrittenSubquery("scalar", query)
        lambdas = self.attempt(self._lambda)
        if lambdas is not None:
            return lambdas
        items = self.parenthesized(self.item)
        if len(items) == 1:
            if items[0].names:
                raise UnsupportedSyntaxError("an alias in parentheses")
            return items[0].value
        return tree.WrittenRow(items)

    def _lambda(self) -> tree.Expr:
        names = self.parenthesized(self.name)
        self.expect("->")
        return tree.Lambda(names, self.expression())

    def _keyword(self, word: str) -> tree.Expr | None:
        """What begins with a keyword that has a rule of its own; None for a plain name."""
        following = self.ahead(1)
        if word in ("NULL", "TRUE", "FALSE") and following.text not in (".", "("):
            self.at += 1
            return tree.WrittenLiteral("null" if word == "NULL" else "boolean", word)
        if word == "CASE" and following.text not in (".", ",", ")"):
            return self._case()
        if word == "INTERVAL" and (
            following.kind in (NUMBER, *self.strings) or following.text in ("+", "-")
        ):
            found = self.attempt(self._interval)
            if found is not None:
                return found
        if word in _TYPED and following.kind in self.strings:
            self.at += 1
            return tree.WrittenLiteral(word.lower(), self.string())
        if word in _BARE and following.text not in ("(", "."):
            self.at += 1
            return tree.SpecialForm("CURRENT", (), word)
        if following.word == "(":
            rule = SYNTAX.get(word)
            return None if rule is None else self.attempt(lambda: self._special(rule, word))
        return None

    def _special(self, rule: SyntaxRule, word: str) -> tree.Expr:
        self.expect(word)
        found = self.in_parentheses(lambda: rule(self, word))
        if isinstance(found, tree.WrittenRow) and self.peek("OVER"):
            raise UnsupportedSyntaxError("a window over STRUCT")
        return found

    def _case(self) -> tree.Expr:
        self.expect("CASE")
        operand = None if self.peek("WHEN") else self.expression()
        branches = []
        while self.take("WHEN"):
            condition = self.expression()
            self.expect("THEN")
            branches.append((condition, self.expression()))
        if not branches:
            raise UnsupportedSyntaxError("CASE without WHEN")
        otherwise = self.expression() if self.take("ELSE") else None
        self.expect("END")
        return tree.WrittenCase(operand, tuple(branches), otherwise)

    def _interval(self) -> tree.Expr:
        self.expect("INTERVAL")
        parts: list[tuple[str, str]] = []
        while True:
            before = self.at
            sign = "-" if self.any_of("-", "+") == "-" else ""
            if self.token.kind not in (NUMBER, *self.strings):
                self.at = before
                break
            value = self.token.text
            self.at += 1
            if self.token.word not in _UNITS:
                self.at = before
                break
            unit = self.name().upper().removesuffix("S")
            parts.append((sign + value, unit))
        if not parts:
            return tree.WrittenLiteral("interval", self.string())
        end = self.name().upper() if len(parts) == 1 and self.take("TO") else None
        return tree.Interval(tuple(parts), end)

    def _named(self) -> tree.Expr:
        """A column, a call, a lambda of one parameter, or ``a.b.*``."""
        if self.ahead(1).word == "->":
            name = self.name()
            self.expect("->")
            return tree.Lambda((name,), self.expression())
        first = self.token
        if first.word in ("FROM", "WHERE", "SELECT", "AND", "OR", "THEN"):
            raise UnsupportedSyntaxError(f"a name wanted at {first.start}")
        parts = self.qualified()
        if self.peek("("):
            return self.call(parts)
        if self.peek(".", "*"):
            self.at += 2
            return tree.Star(parts, self._excluded())
        found: tree.Expr = tree.WrittenName(parts[0])
        for part in parts[1:]:
            found = tree.Field(found, part)
        return found


def _not(negated: bool, found: tree.Expr) -> tree.Expr:
    return tree.Operation("NOT", (found,)) if negated else found
