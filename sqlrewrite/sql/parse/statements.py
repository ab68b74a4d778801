"""Text to statements, each with its own tokens and tree, so that a broken one costs only itself.

Templates are masked before the text is lexed. What sqlglot silently misreads (``t@v1``) is detected
among the tokens, before parsing, and left alone with a reason.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from msgspec import Struct
from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError
from sqlglot.errors import TokenError as TokenError

from sqlrewrite.copies import replace
from sqlrewrite.results import NOT_PARSED
from sqlrewrite.sql.ddl.head import without_clauses
from sqlrewrite.sql.lex import template_tokens
from sqlrewrite.sql.lex import tokens as lexer
from sqlrewrite.sql.lex.computed_names import computes_names, with_computed_names
from sqlrewrite.sql.lex.keywords import as_names
from sqlrewrite.sql.lex.tokens import UnreadableText, read
from sqlrewrite.sql.parse.limits import why_exceeded
from sqlrewrite.sql.parse.scripts import Piece, pieces
from sqlrewrite.sql.parse.spark_parser import parser
from sqlrewrite.sql.parse.statement_kinds import (
    MISSING_SEMICOLON,
    first_join,
    is_passed_over,
    missing_semicolon,
    opens_query,
    reason_to_report,
)
from sqlrewrite.sql.python_runtime import TOO_DEEP, deep
from sqlrewrite.text.edits import Span, merged
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.markers import marker_within
from sqlrewrite.text.masking import mask, untouched
from sqlrewrite.text.templates import (
    Obstacle,
    Refer,
    Template,
    is_template,
    no_name,
    on_one_line,
)

_TOKEN_SHOWN = re.compile(r"<Token token_type: [^,]*, text: (.*?), line: .*?>")
_UNEXPECTED = "Invalid expression / Unexpected token"
_EXPECTED = re.compile(r"Expect(?:ing|ed) ([^,]*?)(?: but got .*)?")
_INCOMPLETE = re.compile(r"Required keyword: '\w+' missing for <class '[\w.]*?(\w+)'>")
_CLASSES = {
    "If": "CASE or IF",
    "Order": "ORDER BY",
    "Group": "GROUP BY",
    "Column": "a column's name",
    "Paren": "what stands in ( )",
    "Bracket": "what stands in [ ]",
    "Tuple": "a list in ( )",
    "EQ": "=",
    "NEQ": "<>",
    "LT": "<",
    "LTE": "<=",
    "GT": ">",
    "GTE": ">=",
    "Dot": "a name",
}


class Failure(Struct, frozen=True):
    """Why a statement was not read: an offset in the text, and a sentence.

    ``parsed``: False for a statement that does not parse, True for one left alone on purpose.
    """

    offset: int
    message: str
    parsed: bool = False
    code: str = NOT_PARSED


class Statement(Struct, frozen=True, eq=False):
    """One statement of a text.

    ``index``: its number in the text.
    ``start``, ``end``: its offsets; comments after it are part of it.
    ``tokens``: with offsets in the whole text.
    ``tree``: None for a statement without a query, and for one with a ``failure``.
    ``refer``: the function that resolved its templates.
    ``maybe``: whether it is a definition in a script, which may run or not.
    """

    index: int
    start: int
    tokens: Sequence[Token]
    tree: exp.Expr | None
    failure: Failure | None = None
    refer: Refer = no_name
    end: int = 0
    maybe: bool = False

    @property
    def words(self) -> frozenset[str]:
        """The texts of its tokens in lower case, names included."""
        return frozenset(map(str.lower, {token.text for token in self.tokens}))

    def words_outside(self, spans: Sequence[Span]) -> frozenset[str]:
        """The words of the tokens that begin in none of the spans."""
        return frozenset(token.text.lower() for token in _outside(self.tokens, merged(spans)))

    @property
    def last_words(self) -> frozenset[str]:
        """The statement's words, and the last part of each word with dots."""
        words = self.words
        return words | {word.rpartition(".")[2] for word in words if "." in word}


class Lexed(Struct, frozen=True, eq=False):
    """The tokens of a text, semicolons included; its ``unreadable`` parts; its templates, and what
    keeps templates from being read (``obstacles``)."""

    tokens: Sequence[Token]
    unreadable: tuple[UnreadableText, ...] = ()
    templates: tuple[Template, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    refer: Refer = no_name

    def without(self, spans: Sequence[Span]) -> Lexed:
        """The tokens and templates that begin in none of the spans, which are in order."""
        tokens, templates = _outside(self.tokens, spans), _outside(self.templates, spans)
        return replace(self, tokens=tokens, templates=tuple(templates))


P = TypeVar("P", Token, Template)


def _outside(parts: Sequence[P], spans: Sequence[Span]) -> list[P]:
    """The parts that begin in none of the spans, which are in order."""
    starts = [span.start for span in spans]
    before = [bisect_right(starts, part.start) - 1 for part in parts]
    return [
        part
        for part, at in zip(parts, before, strict=True)
        if at < 0 or part.start >= spans[at].end
    ]


def lex(text: str, refer: Refer = no_name) -> Lexed:
    """The tokens of a text, its templates resolved by ``refer``."""
    masked = mask(text)
    tokens, unreadable = read(masked.text)
    if untouched(masked, text) and not masked.obstacles:
        return Lexed(_named(tokens, text, refer), unreadable)
    lexed, obstacles = template_tokens.with_templates(tokens, masked, text, refer)
    obstacles = sorted((*masked.obstacles, *obstacles), key=lambda obstacle: obstacle.start)
    return Lexed(_named(lexed, text, refer), unreadable, masked.templates, tuple(obstacles), refer)


def statements(
    text: str,
    lexed: Lexed | None = None,
    limits: Limits | None = None,
    *,
    marked: bool = False,
) -> Iterator[Statement]:
    """The statements of a text, or those with a marker of ours; those over the limits are not
    parsed. Raises nothing."""
    lexed, limits = lexed or lex(text), limits or Limits()
    obstacles, unreadable = deque(lexed.obstacles), deque(lexed.unreadable)
    for index, piece in enumerate(pieces(text, lexed.tokens)):
        tokens, start = piece.tokens, piece.tokens[0].start
        while unreadable and unreadable[0].offset < piece.since:
            unreadable.popleft()  # it belongs to no statement
        within = bool(unreadable) and unreadable[0].offset < piece.until
        unread = unreadable[0] if within else None
        if marked and not marker_within(text, piece.since, piece.until):
            continue
        if piece.why or piece.defines:
            yield _of_script(text, index, piece)
            continue
        while obstacles and obstacles[0].end <= piece.since:
            obstacles.popleft()
        # The first one left ends in or after this piece, and all others begin later.
        blocked = bool(obstacles) and obstacles[0].start < piece.until
        over = _failure_over_limits(text, tokens, limits)
        if over is not None:
            yield Statement(index, start, tokens, None, over, end=piece.until)
            continue
        yield _statement(text, index, piece, lexed, obstacles[0] if blocked else None, unread)


def tokenize(text: str, refer: Refer = no_name) -> list[Token]:
    """Spark's tokens, templates resolved by ``refer``. Raises sqlglot's TokenError."""
    masked = mask(text)
    tokens = lexer.tokenize(masked.text)
    if not untouched(masked, text):
        tokens = template_tokens.with_templates(tokens, masked, text, refer)[0]
    return list(_named(tokens, text, refer))


def _named(tokens: Sequence[Token], text: str, refer: Refer) -> Sequence[Token]:
    return with_computed_names(tokens, text, refer) if computes_names(text) else tokens


def parse_tokens(tokens: list[Token], text: str) -> exp.Expr:
    """The tree of one statement's tokens. Raises sqlglot's ParseError."""
    return _parsed(tokens, lambda these: _tree(these, text))[0]


def parse_condition(tokens: list[Token], text: str) -> exp.Expr:
    """The tree of one condition, given its tokens. Raises sqlglot's errors."""
    return _parsed(tokens, lambda these: _one(parser().parse_into(exp.Condition, these, text)))[0]


def _tree(tokens: list[Token], text: str) -> exp.Expr:
    return _one(parser().parse(tokens, text))


def _one(trees: Sequence[exp.Expr | None]) -> exp.Expr:
    if len(trees) != 1 or trees[0] is None:
        raise ParseError("not one statement")
    return trees[0]


def _parsed(
    tokens: list[Token], tree: Callable[[list[Token]], exp.Expr]
) -> tuple[exp.Expr, list[Token]]:
    """The tree of tokens, and the tokens: if they do not parse, keywords that may be names are
    tried as names. Raises ParseError."""
    try:
        return tree(tokens), tokens
    except ParseError:
        named = as_names(tokens)
        if named is not None:
            with suppress(ParseError):
                return tree(named), named
        raise


def _of_script(text: str, index: int, piece: Piece) -> Statement:
    """The statement for a part of a script that is left alone; in a definition only a join is
    reported."""
    tokens, start = piece.tokens, piece.tokens[0].start
    failure = Failure(start, piece.why, True) if piece.why else None
    if piece.defines and (at := first_join(text, start, piece.until)) is not None:
        failure = Failure(at, "a join in a definition inside a script is left alone", True)
    return Statement(index, start, tokens, None, failure, end=piece.until, maybe=piece.defines)


def _statement(
    text: str,
    index: int,
    piece: Piece,
    lexed: Lexed,
    obstacle: Obstacle | None,
    unread: UnreadableText | None,
) -> Statement:
    tokens = piece.tokens
    start = tokens[0].start
    templates = template_tokens.templates_among(lexed.templates, tokens)
    passed = is_passed_over(tokens)
    parses = opens_query(tokens)
    ours = parses or not passed
    failure = None
    if ours:
        obstacle = obstacle or (
            template_tokens.misplaced_template(templates, tokens) if parses else None
        )
        if obstacle is not None:
            message = f"left alone: {obstacle.message}"
            failure = Failure(obstacle.start, message, True)
    if failure is None and unread is not None and (ours or unread.endless):
        failure = Failure(unread.offset, unread.why, not unread.endless)
    if failure is None and ours:
        failure = misread(text, tokens)
    if failure is not None or unread is not None:
        return Statement(index, start, tokens, None, failure, end=piece.until)
    if not parses:
        why = Failure(start, _no_beginning(text, start, tokens[0]))
        failure = _unrewritten(text, tokens, None) if passed else _excused(why, templates)
        return Statement(index, start, tokens, None, failure, end=piece.until)
    try:
        tree, tokens = _parsed(
            tokens, lambda these: deep(lambda: _tree(without_clauses(these, text), text))
        )
    except ParseError as error:  # a MERGE may be what only its engine can read
        failure = (
            _unrewritten(text, tokens, None) if passed else _parse_failure(error, text, tokens)
        )
    except RecursionError:
        failure = Failure(start, f"{TOO_DEEP} to be parsed")
    except Exception as error:  # a parser's own bug must cost no more than this statement
        failure = Failure(start, f"the parser failed: {type(error).__name__}: {error}")
    else:
        if templates:
            template_tokens.weaken_templates(tree)
        failure = _unrewritten(text, tokens, tree)
        return Statement(index, start, tokens, tree, failure, lexed.refer, piece.until)
    return Statement(index, start, tokens, None, _excused(failure, templates), end=piece.until)


def _no_beginning(text: str, start: int, first: Token) -> str:
    """Why no statement begins with a token."""
    if text.startswith("//", start):
        return "// does not begin a comment in SQL: write --"
    begins = on_one_line(first.text)
    if first.token_type is TokenType.STRING:
        return f"no statement begins with a text in quotes: are those around {begins!r} meant?"
    if is_template(first.text):
        return f"it begins with what `{begins}` renders to: {_REWRITE_COMPILED}"
    return f"no statement begins with {begins!r}"


_REWRITE_COMPILED = "rewrite what dbt compiles, in target/compiled"


def _failure_over_limits(text: str, tokens: Sequence[Token], limits: Limits) -> Failure | None:
    """The failure of a statement over the limits; None if it is not."""
    start = tokens[0].start
    why = why_exceeded(text[start : tokens[-1].end + 1], tokens, limits)
    return None if why is None else Failure(start, why, True)


def passed_over(statement: Statement, text: str) -> Failure | None:
    """The failure to report for a statement that turned out to hold no query to rewrite; None if
    there is nothing to report."""
    return _unrewritten(text, statement.tokens, None)


def _unrewritten(text: str, tokens: Sequence[Token], tree: exp.Expr | None) -> Failure | None:
    reason = reason_to_report(text, tokens, tree)
    return None if reason is None else Failure(*reason, True)


def _excused(failure: Failure | None, templates: Sequence[Template]) -> Failure | None:
    """The failure; that of a statement with templates counts as left alone on purpose, since the
    SQL that they render to may be right."""
    if failure is None or failure.parsed or not templates:
        return failure
    return replace(failure, message=f"left alone for its templates: {failure.message}", parsed=True)


def _parse_failure(error: ParseError, text: str, tokens: Sequence[Token]) -> Failure:
    if not error.errors:
        return Failure(tokens[0].start, _first_line(error))
    first = error.errors[0]
    line, column = first.get("line"), first.get("col")
    # sqlglot's column is that of the token's last character.
    offset = next((t.start for t in tokens if t.line == line and t.col == column), tokens[0].start)
    if missing_semicolon(text, [token for token in tokens if token.start <= offset]) == offset:
        return Failure(offset, MISSING_SEMICOLON)
    message = (first.get("description") or _first_line(error)).rstrip(".")
    last = tokens[-1]
    shown = next((_token_shown(text, token) for token in tokens if token.start == offset), "")
    where = f"after `{shown}`" if offset == last.start else f"before `{shown}`"
    return Failure(offset, _in_words(message, where, shown))


def _token_shown(text: str, token: Token) -> str:
    """A token as a message shows it; for a token of a template the whole template."""
    whole = token.token_type is TokenType.VAR and is_template(token.text)
    return on_one_line(token.text if whole else text[token.start : token.end + 1])


def _in_words(message: str, where: str, shown: str) -> str:
    """A message of sqlglot's without the names of its classes, about the token ``shown``."""
    message = _TOKEN_SHOWN.sub(r"'\1'", message)
    if message == _UNEXPECTED:
        return f"`{shown}` is not expected here: look at what stands before it"
    if (expected := _EXPECTED.fullmatch(message)) is not None and shown:
        return f"expected {expected[1]} {where}"
    message = message.replace(" but got 'SENTINEL'", ", but the statement ends")
    return _INCOMPLETE.sub(
        lambda match: f"{_CLASSES.get(match[1], match[1].upper())} is not complete", message
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".") or type(error).__name__


def misread(text: str, tokens: Sequence[Token]) -> Failure | None:
    """A failure for a part of a statement that sqlglot would misread without an error; None if
    there is none."""
    if text.find("@", tokens[0].start, tokens[-1].end + 1) < 0:
        return None
    for token in tokens:
        if token.token_type is TokenType.PARAMETER and token.text == "@":
            why = "time travel written as t@v1 is not supported: write VERSION AS OF"
            return Failure(token.start, why, True)
    return None
