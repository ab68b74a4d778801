"""Spark's lexemes as tokens for sqlglot's parser, and the parts of a text that have none.

Two words that are one keyword (ORDER BY) become one token, and so do a hint after SELECT,
``x'1F'``, and all that follows the word of a command (EXPLAIN, SHOW); ``1L`` becomes three
(``1 :: BIGINT``). Comments are no tokens. A statement that the parser cannot read has tokens too:
where it ends, and which parts are strings and comments, is right in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError, TokenError

from sqlrewrite.sql.lex.lexemes import Lexeme, LexemeKind, lexemes
from sqlrewrite.text.masking import mask

_KEYWORDS = {
    word: kind for word, kind in Spark.Tokenizer.KEYWORDS.items() if re.fullmatch(r"\w+", word)
}
_OPERATORS = {
    **{sign: kind for sign, kind in Spark.Tokenizer.SINGLE_TOKENS.items() if sign not in "'\"`;"},
    **{sign: Spark.Tokenizer.KEYWORDS[sign] for sign in "== <=> <= >= <> != => ->".split()},
    **{sign: Spark.Tokenizer.KEYWORDS[sign] for sign in ":: || |>".split()},
}
_SUFFIXES = {
    suffix: Spark.Tokenizer.KEYWORDS[name]
    for suffix, name in Spark.Tokenizer.NUMERIC_LITERALS.items()
}
_OF_TWO_WORDS: dict[str, dict[str, TokenType]] = {}
"""The keyword that two words make, by the first word and then the second."""
for _words in (
    *("GROUP BY", "ORDER BY", "SORT BY", "CLUSTER BY", "DISTRIBUTE BY", "PARTITION BY"),
    *("PARTITIONED BY", "GROUPING SETS", "PRIMARY KEY", "FOREIGN KEY", "MSCK REPAIR"),
    *("ADD ARCHIVE", "ADD ARCHIVES", "ADD FILE", "ADD FILES", "ADD JAR", "ADD JARS"),
):
    _first, _second = _words.split()
    _OF_TWO_WORDS.setdefault(_first, {})[_second] = Spark.Tokenizer.KEYWORDS[_words]
_FIRST_OF_TWO = {*_OF_TWO_WORDS, "X"}

_VAR = TokenType.VAR
_COMMANDS = Spark.Tokenizer.COMMANDS
_BEFORE_COMMAND = (None, TokenType.BEGIN)

_NUMBER = re.compile(r"(\.?)(.*?)(BD|[LSYDF])?", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-fA-F]*")
_ESCAPE = r"\\([0-3][0-7]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)"
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}

_QUOTES = "'\"`rR"
_CONTINUED = re.compile(r"--[^\r\n]*\\(?:\n|\Z)")
_NOTHING_MORE = re.compile(r"[ \t]*(?:--|\r?\n|\Z)")
_GOES_ON = "a line comment that ends in a backslash goes on in the next line"
_TIME_TRAVEL = "time travel written as t@v1 is not supported: write VERSION AS OF"


class UnreadableText(Struct, frozen=True):
    """A place in a statement that has no token for the parser, and why; ``endless`` if a quote or
    comment has no end."""

    offset: int
    why: str
    endless: bool = False


def read(text: str) -> tuple[list[Token], tuple[UnreadableText, ...]]:
    """The tokens of a text, and what is unreadable in it, at most once a statement. Raises
    nothing."""
    tokens: list[Token] = []
    unreadable: list[UnreadableText] = []
    every = lexemes(text)
    start = 0
    for part in _statements(text, every):
        end = part[-1][2] if part[-1] is not every[-1] else len(text)
        those, why = _read(text, part)
        if why is None and text.find("\\", start, end) >= 0:
            why = _continued_comment(text, part, start, end)
        if why is not None:
            unreadable.append(why)
            those = plain_tokens(text, part)
        tokens += those
        start = end
    return tokens, tuple(unreadable)


def tokenize(text: str) -> list[Token]:
    """The tokens of a text. Raises sqlglot's TokenError where something is unreadable in it."""
    tokens, unreadable = read(text)
    for why in unreadable:
        raise TokenError(why.why)
    return tokens


def _statements(text: str, every: Sequence[Lexeme]) -> Iterator[Sequence[Lexeme]]:
    """The lexemes of each statement with its semicolon; an unclosed hint includes the rest."""
    start, hint = 0, False
    opening, semicolon = LexemeKind.HINT, LexemeKind.SEMICOLON
    for index, (kind, begins, _) in enumerate(every):
        hint = kind == opening or (hint and not text.startswith("*/", begins))
        if kind == semicolon and not hint:
            yield every[start : index + 1]
            start = index + 1
    if start < len(every):
        yield every[start:]


def _read(text: str, part: Sequence[Lexeme]) -> tuple[list[Token], UnreadableText | None]:
    """The tokens of a statement up to the first place that has no token, and that place; None if
    there is no such place."""
    tokens: list[Token] = []
    at, before = 0, None
    name, operator, hint = LexemeKind.NAME, LexemeKind.OPERATOR, LexemeKind.HINT
    while at < len(part):
        kind, start, end = part[at]
        written = text[start:end]
        behind = at + 1
        if kind == name:
            word = written.upper()
            token = _of_two(text, part, at, word) if word in _FIRST_OF_TWO else None
            if token is None:
                token = Token(_KEYWORDS.get(word, _VAR), written, 1, end, start, end - 1)
            else:
                behind += 1
            tokens.append(token)
            if token.token_type in _COMMANDS and before in _BEFORE_COMMAND:
                rest, behind = _rest_of_command(text, part, behind)
                tokens += rest
        elif kind == operator and written in _OPERATORS:
            tokens.append(Token(_OPERATORS[written], written, 1, end, start, end - 1))
        elif kind == hint:
            close = next((n for n in range(at, len(part)) if _closes(text, part[n])), None)
            if close is None or before not in (TokenType.SELECT, TokenType.HINT):
                return tokens, _unreadable(text, part, at)
            if before is TokenType.SELECT:  # a second hint changes no rows
                stop = part[close][2]
                token = Token(TokenType.HINT, text[start:stop], 1, stop, start, stop - 1)
                token.comments.append(text[end : part[close][1]])
                tokens.append(token)
            behind = close + 1
        elif (simple := _simple(kind, written, start, end)) is not None:
            tokens += simple
        else:
            return tokens, _unreadable(text, part, at)
        at, before = behind, tokens[-1].token_type
    return tokens, None


def _closes(text: str, lexeme: Lexeme) -> bool:
    """Whether a lexeme is the end of a hint."""
    return text.startswith("*/", lexeme[1])


def _of_two(text: str, part: Sequence[Lexeme], at: int, word: str) -> Token | None:
    """The one token for a word and the next lexeme (ORDER BY, ``x'1F'``); None if they are two."""
    if at + 1 == len(part):
        return None
    (_, start, end), (_, begins, ends) = part[at : at + 2]
    other = text[begins:ends]
    two = _OF_TWO_WORDS.get(word, {}).get(other.upper())
    if two is not None:
        return Token(two, f"{word} {other.upper()}", 1, ends, start, ends - 1)
    digits = other[1:-1]
    if word == "X" and begins == end and other[0] == "'" and _HEX.fullmatch(digits):
        return Token(TokenType.HEX_STRING, digits, 1, ends, start, ends - 1)
    return None


def _rest_of_command(text: str, part: Sequence[Lexeme], at: int) -> tuple[list[Token], int]:
    """All that follows the word of a command as one string, and the index after it; unclosed text
    at the end is left out."""
    end = len(part)
    while end > at and part[end - 1][0] in _NOT_OF_A_COMMAND:
        end -= 1
    if end == at:
        return [], end
    start, stop = part[at][1], part[end - 1][2]
    return [Token(TokenType.STRING, text[start:stop], 1, stop, start, stop - 1)], end


_NOT_OF_A_COMMAND = (LexemeKind.SEMICOLON, LexemeKind.COMMENT)


def _simple(kind: int, written: str, start: int, end: int) -> Iterable[Token] | None:
    """The tokens of a lexeme by itself; None if it has none."""
    match kind:
        case LexemeKind.OPERATOR if written == "<<":
            return (Token(TokenType.LT, "<", 1, at + 1, at, at) for at in (start, start + 1))
        case LexemeKind.NUMBER:
            return _number(written, start, end)
        case LexemeKind.STRING | LexemeKind.DOUBLE_QUOTED:
            its = TokenType.RAW_STRING if written[0] in "rR" else TokenType.STRING
            return (Token(its, string_value(written), 1, end, start, end - 1),)
        case LexemeKind.QUOTED_NAME:
            name = written[1:-1].replace("``", "`")
            return (Token(TokenType.IDENTIFIER, name, 1, end, start, end - 1),)
        case LexemeKind.SEMICOLON:
            return (Token(TokenType.SEMICOLON, written, 1, end, start, end - 1),)
        case _:
            return None


def _number(written: str, start: int, end: int) -> Iterator[Token]:
    """A number, and the type that its suffix casts it to."""
    match = _NUMBER.fullmatch(written)
    assert match is not None
    point, digits, suffix = match.groups()
    value = f"0.{digits}" if point else digits
    yield Token(TokenType.NUMBER, value, 1, end, start, end - 1)
    if suffix:
        yield Token(TokenType.DCOLON, "::", 1, end, start, end - 1)
        yield Token(_SUFFIXES[suffix.upper()], suffix, 1, end, start, end - 1)


def string_value(written: str) -> str:
    """The value of a string: Spark's ``unescapeSQLString``, with a doubled quote as one."""
    if written[0] in "rR":
        return written[2:-1]
    quote, body = written[0], written[1:-1]
    if "\\" not in body and quote not in body:
        return body

    def one(found: re.Match[str]) -> str:
        code = found[1]
        if found[2]:
            return quote
        if code in "%_":
            return found[0]
        if len(code) == 3:
            return chr(int(code, 8))
        if len(code) > 3:
            return chr(int(code[1:], 16))
        return _ESCAPED.get(code, code)

    return re.sub(rf"{_ESCAPE}|({quote}{quote})", one, body, flags=re.DOTALL)


def plain_tokens(text: str, part: Sequence[Lexeme]) -> list[Token]:
    """The tokens of a statement that cannot be parsed: names and literals; only the first may be a
    keyword."""
    tokens = [_plain_token(text, *lexeme) for lexeme in part]
    for token in tokens[:-1]:
        if token.token_type is TokenType.SEMICOLON:  # in an unclosed hint
            token.token_type = TokenType.UNKNOWN
    if part[0][0] == LexemeKind.NAME:
        tokens[0].token_type = _KEYWORDS.get(tokens[0].text.upper(), TokenType.VAR)
    return tokens


_TYPES = {
    LexemeKind.NUMBER: TokenType.NUMBER,
    LexemeKind.STRING: TokenType.STRING,
    LexemeKind.DOUBLE_QUOTED: TokenType.STRING,
    LexemeKind.QUOTED_NAME: TokenType.IDENTIFIER,
    LexemeKind.SEMICOLON: TokenType.SEMICOLON,
    LexemeKind.NAME: TokenType.VAR,
}


def _plain_token(text: str, kind: int, start: int, end: int) -> Token:
    written = text[start:end]
    its = TokenType.DOT if written == "." else _TYPES.get(LexemeKind(kind), TokenType.UNKNOWN)
    if its in (TokenType.STRING, TokenType.IDENTIFIER):
        written = written.lstrip("rR")[1:-1]
    return Token(its, written, start=start, end=end - 1)


def _continued_comment(
    text: str, part: Sequence[Lexeme], start: int, end: int
) -> UnreadableText | None:
    """A line comment that a backslash continues in the next line, so that an insertion after its
    line would become a part of it; None if there is none. Before a statement begins nothing is
    inserted, and a next line that is blank or a comment is harmless."""
    ends = [start, *(lexeme[2] for lexeme in part)]
    starts = [*(lexeme[1] for lexeme in part), end]
    kinds = [LexemeKind.SEMICOLON, *(lexeme[0] for lexeme in part)]
    for kind, since, until in zip(kinds, ends, starts, strict=True):
        for match in _CONTINUED.finditer(text, since, until):
            if kind == LexemeKind.SEMICOLON and _NOTHING_MORE.match(text, match.end()):
                continue
            return UnreadableText(match.start(), _GOES_ON)
    return None


def _unreadable(text: str, part: Sequence[Lexeme], at: int) -> UnreadableText:
    """Why a lexeme cannot be a token."""
    kind, start, end = part[at]
    shown = text[start : min(end, start + 40)]
    if kind == LexemeKind.COMMENT or (
        kind == LexemeKind.UNKNOWN and end == len(text) and shown[0] in _QUOTES
    ):
        return UnreadableText(start, "cannot be lexed: a quote or comment without its end?", True)
    if "\udc80" <= text[start : start + 1] <= "\udcff":
        byte = ord(text[start]) - 0xDC00
        return UnreadableText(start, f"the byte 0x{byte:02X} is no UTF-8: save the file as UTF-8")
    if kind == LexemeKind.UNKNOWN:
        return UnreadableText(start, f"no token of Spark begins with {shown!r}")
    if kind == LexemeKind.HINT and at and text.startswith("*/", part[at - 1][1]):
        why = "a second hint block is not supported: write one /*+ … */ with a comma"
        return UnreadableText(start, why)
    if shown.startswith("@"):
        return UnreadableText(start, _TIME_TRAVEL)
    what = {LexemeKind.HINT: "the beginning of a hint", LexemeKind.CODE: "code in dollar signs"}
    called = what.get(LexemeKind(kind), "an operator")
    return UnreadableText(start, f"Spark reads `{shown}` as {called}, and the parser does not")


_WORD, _HINT = re.compile(r"\w+", re.ASCII), re.compile(r"/\*\+.*", re.DOTALL)


def comparable(text: str) -> tuple[str, ...]:
    """The texts of a text's tokens; keywords, unquoted names and hints in lower case, as Spark
    reads them. Strings and templates are as written, and so are all words if there is a parameter
    (``:x``). A text that cannot be lexed, or holds a template that is no token, is one item."""
    masked = mask(text)
    try:
        tokens = tokenize(masked.text)
    except SqlglotError:
        return (text,)
    if masked.obstacles:
        return (text,)
    written = tuple(text[token.start : token.end + 1] for token in tokens)
    folds = _HINT if ":" in written else _WORD
    return tuple(
        " ".join(token.lower().split()) if folds.fullmatch(token) or _HINT.match(token) else token
        for token in written
    )
