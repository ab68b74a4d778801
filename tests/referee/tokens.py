"""``python -m tests.referee.tokens --seed S --from N --count M``: Spark's own lexer as the referee.

Texts are cut from the fixtures and a corpus, and broken by edits that hurt lexers: openers of
comments and quotes, backslashes, digits, line ends. Of each text two things must hold: our lexemes
are Spark's tokens, and in a statement of which nothing is told, so are those that we parse.
Text N of seed S is always the same; ``--seconds`` ends a run early and prints from where to go on.
"""

from __future__ import annotations

import random
import re
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark

from sqlrewrite.sql.lex.lexemes import Lexeme, LexemeKind, lexemes
from sqlrewrite.sql.lex.tokens import UnreadableText, read
from tests.referee import numbered
from tests.support.stable_draws import Draws

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
LONGEST = 140
"""So much of a file is one text: what breaks a lexer is short."""
PAGE = 40
"""So many texts go to Spark as one, where each of them ends what it opens."""
BETWEEN = "\n\n"

BREAKERS = [
    *r"""/* */ /*+ -- \ ' " ` '' "" `` ; $ $$ $a$ @ @v @1 1 1e e+5 .5 1. 1L 1BD 1e5D r' R" x' n' b'
    http:// :// s3://a { } {{ }} <=> < << > >> >>> >>= = == ! != !> !< | |> || |>= : := :: -> ->> =>
    ? # ~ ~~ & && ^ % . .. _ 0x1F 2020_x /**/ /*/ */* /*/* */*/ /*+*/ -1 1-- --1 ARRAY< MAP< STRUCT<
    ORDER GROUP BY SELECT EXPLAIN SHOW DATE 'a' "a" `a` r'\' '\'' é ſ ı 中 1ſ ß Ⅷ ² ٣ 😀""".split(),
    *("\\\n", "\n", "\r", "\r\n", " ", "\t", "\f", "\v", "\x00", "\x1c", "\x85", "\xa0", "\u1680"),
    *("\u180e", "\u2003", "\u2028", "\u2029", "\u3000", "\ufeff", " -- a\\\n", "\\'", '\\"', "e"),
]

_NUMBERS = re.compile(
    r"(BIGINT|SMALLINT|TINYINT|INTEGER|EXPONENT|DECIMAL|FLOAT|DOUBLE|BIGDECIMAL)_(LITERAL|VALUE)"
)
_NAMED = {
    "SEMICOLON": LexemeKind.SEMICOLON,
    "STRING_LITERAL": LexemeKind.STRING,
    "DOUBLEQUOTED_STRING": LexemeKind.DOUBLE_QUOTED,
    "BACKQUOTED_IDENTIFIER": LexemeKind.QUOTED_NAME,
    "HENT_START": LexemeKind.HINT,
    "UNRECOGNIZED": LexemeKind.UNKNOWN,
    "BEGIN_DOLLAR_QUOTED_STRING": LexemeKind.CODE,
    "DOLLAR_QUOTED_STRING_BODY": LexemeKind.ODD,  # goes on with what is before it
    "END_DOLLAR_QUOTED_STRING": LexemeKind.ODD,
    "IDENTIFIER": LexemeKind.NAME,
}
_ESCAPED = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})
_HEAD = re.compile(r"\[@-1,(\d+):(\d+)='")
_TAIL = re.compile(r"',<(\d+)>(,channel=1)?,\d+:\d+\](?:, |\])")
_WORD = re.compile(r"(?s:/\*.*\*/)|--.*|((?:(?!/\*|--)\S)+)")
_SHIFTED = re.compile(r">>+=[<>=!]*")


class SparkLexer:
    """``SqlBaseLexer`` of the Spark that a session runs on: a text's lexemes as Spark has them,
    with an unclosed comment as one, and ``>>`` as two."""

    def __init__(self, jvm: Any) -> None:
        parser = jvm.org.apache.spark.sql.catalyst.parser
        self._lexer, self._upper = parser.SqlBaseLexer, parser.UpperCaseCharStream
        self._stream = jvm.org.antlr.v4.runtime.CharStreams.fromString
        words = self._lexer(self._upper(self._stream(""))).getVocabulary()
        self._kinds = {
            number: _kind(words.getSymbolicName(number), words.getLiteralName(number))
            for number in range(1, words.getMaxTokenType() + 1)
        }

    def __call__(self, text: str) -> list[Lexeme]:
        from py4j.java_gateway import get_field

        lexer = self._lexer(self._upper(self._stream(text)))
        shown = lexer.getAllTokens().toString()
        pieces: list[Lexeme] = []
        at, last = 1, (0, 0)
        while at < len(shown) and shown != "[]":
            head = _HEAD.match(shown, at)
            assert head is not None, shown[at : at + 80]
            start, end = int(head[1]), int(head[2]) + 1
            value = text[start:end].translate(_ESCAPED)
            tail = _TAIL.match(shown, head.end() + len(value))
            assert tail is not None, shown[at : at + 80]
            at, last = tail.end(), (start, end)
            if not tail[2]:
                self._add(pieces, text, self._kinds[int(tail[1])], start, end)
        # Only a comment without its end goes up to the end, so that no line feed is behind it.
        ends = last[1] == len(text) and text.startswith("/*", last[0])
        if ends and get_field(lexer, "has_unclosed_bracketed_comment"):
            pieces.append((LexemeKind.COMMENT, *last))
        return pieces

    def _add(self, pieces: list[Lexeme], text: str, kind: LexemeKind, start: int, end: int) -> None:
        if kind == LexemeKind.ODD:
            pieces[-1] = (LexemeKind.CODE, pieces[-1][1], end)
        elif set(text[start:end]) == {">"}:
            pieces += [(kind, at, at + 1) for at in range(start, end)]
        else:
            pieces.append((kind, start, end))


def _kind(symbolic: str, literal: str | None) -> LexemeKind:
    if _NUMBERS.fullmatch(symbolic):
        return LexemeKind.NUMBER
    if symbolic in _NAMED:
        return _NAMED[symbolic]
    word = literal is None or literal[1].isalpha()
    operators = symbolic in ("EQ", "LTE", "GTE")  # of two spellings, so without a literal
    return LexemeKind.NAME if word and not operators else LexemeKind.OPERATOR


# --- what must hold


def lexed_otherwise(text: str, theirs: Sequence[Lexeme]) -> str | None:
    """Where our lexemes are not Spark's, if they are not."""
    ours = lexemes(text)
    if ours and ours[-1][0] == LexemeKind.UNKNOWN and ours[-1][2] - ours[-1][1] > 1:
        start = ours[-1][1]
        endless = ours[-1][2] == len(text) and not _SHIFTED.match(text, start)
        if endless:  # a quote: the rest is not read, and Spark does not read it either
            if not any(kind == LexemeKind.UNKNOWN and at >= start for kind, at, _ in theirs):
                return f"Spark reads all of {text[start:]!r}"
            ours.pop()
            theirs = [their for their in theirs if their[1] < start]
    unsure = [(start, end) for _, start, end in ours if _SHIFTED.fullmatch(text, start, end)]
    for begins, ends in unsure:
        ours = [lexeme for lexeme in ours if not begins <= lexeme[1] < ends]
        theirs = [their for their in theirs if not begins <= their[1] < ends]
    if ours == list(theirs):
        return None
    both = zip([*ours, None], [*theirs, None], strict=False)
    one, other = next((one, other) for one, other in both if one != other)
    return f"{_shown(text, one)} is {_shown(text, other)} to Spark"


def untold(
    text: str,
    theirs: Sequence[Lexeme],
    tokens: Sequence[Token],
    unreadable: Sequence[UnreadableText],
) -> str | None:
    """Where the tokens that were read are not Spark's and nothing is told of their statement."""
    offsets = [place.offset for place in unreadable]
    stops = {start for kind, start, _ in theirs if kind == LexemeKind.SEMICOLON}
    since, piece = 0, []
    for token in [*tokens, None]:
        if token is not None and token.token_type is not TokenType.SEMICOLON:
            piece.append(token)
            continue
        until = len(text) if token is None else token.start
        if token is not None and until not in stops:
            return f"no statement ends at {until} to Spark"
        within = any(since <= at < until or at == until for at in offsets)
        inside = [their for their in theirs if since <= their[1] < until]
        wrong = None if within else _painted_otherwise(text, piece, inside)
        if wrong is not None:
            return wrong
        since, piece = until + 1, []
    return None


def _painted_otherwise(text: str, ours: list[Token], theirs: Sequence[Lexeme]) -> str | None:
    """Both paint the text: each lexeme its stretch in its colour. One of ours may begin
    in the middle of ``<<``."""
    if ours and ours[0].token_type in Spark.Tokenizer.COMMANDS:
        return None  # of what is not ours only the end counts
    mine, my_starts = _paint(_of_tokens(text, ours))
    other, their_starts = _paint(_in_hints(text, theirs))
    if mine != other:
        at = min(at for at in mine.keys() | other.keys() if mine.get(at) != other.get(at))
        return f"{mine.get(at)} at {at} is {other.get(at)} to Spark: {text[at : at + 20]!r}"
    for at in my_starts - their_starts:
        if not text.startswith("<<", at - 1):
            return f"a token begins at {at}, and none of Spark's: {text[at : at + 20]!r}"
    for at in their_starts - my_starts:
        return f"a token of Spark's begins at {at}: {text[at : at + 20]!r}"
    return None


def _of_tokens(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, int, int]]:
    for index, token in enumerate(tokens):
        start, end = token.start, token.end + 1
        if index and tokens[index - 1].start == start:
            continue  # the type of 1L
        match token.token_type:
            case TokenType.STRING | TokenType.RAW_STRING:
                yield "string", start, end
            case TokenType.HEX_STRING if text[start] in "xX":
                yield "word", start, start + 1
                yield "string", start + 1, end
            case TokenType.NUMBER:
                yield "number", start, end
            case TokenType.IDENTIFIER:
                yield "quoted name", start, end
            case TokenType.HINT:
                yield "hint", start, end
            case _:  # ORDER BY is one, with what is between its words
                for word in _WORD.finditer(text, start, end):
                    if word[1]:
                        yield "word", *word.span(1)


def _in_hints(text: str, theirs: Sequence[Lexeme]) -> Iterator[tuple[str, int, int]]:
    """Spark's lexemes by their colours, a hint as one. A hint right behind another has none: what
    it hints at changes no rows."""
    colours = {
        LexemeKind.NAME: "word",
        LexemeKind.OPERATOR: "word",
        LexemeKind.NUMBER: "number",
        LexemeKind.STRING: "string",
        LexemeKind.DOUBLE_QUOTED: "string",
        LexemeKind.QUOTED_NAME: "quoted name",
    }
    hint: int | None = None
    behind = again = False
    for kind, start, end in theirs:
        if kind == LexemeKind.HINT and hint is None:
            hint, again = start, behind
        elif hint is None:
            yield colours.get(LexemeKind(kind), LexemeKind(kind).name), start, end
        elif text[start:end] == "*/":
            if not again:
                yield "hint", hint, end
            hint, behind = None, True
            continue
        behind = False
    if hint is not None:
        yield "a hint without its end", hint, len(text)


def _paint(spans: Iterable[tuple[str, int, int]]) -> tuple[dict[int, str], set[int]]:
    """Which colour each place has that is no white space, and where a span begins."""
    colours: dict[int, str] = {}
    starts: set[int] = set()
    for colour, start, end in spans:
        starts.add(start)
        colours |= dict.fromkeys(range(start, end), colour)
    return colours, starts


def _shown(text: str, lexeme: Lexeme | None) -> str:
    if lexeme is None:
        return "nothing"
    kind, start, end = lexeme
    return f"{LexemeKind(kind).name} {text[start:end]!r} at {start}"


# --- texts


@cache
def sources() -> dict[str, str]:
    """All texts of the fixtures, and of the corpus where it is at hand, by their names."""
    paths = [*(ROOT / "fixtures").rglob("*.sql"), *CORPUS.rglob("*.sql"), *CORPUS.rglob("*.hql")]
    texts = ((path, path.read_text("utf-8", "replace")) for path in sorted(paths))
    return {path.relative_to(_above(path)).as_posix(): text for path, text in texts}


def _above(path: Path) -> Path:
    return CORPUS if path.is_relative_to(CORPUS) else ROOT


@cache
def _draws() -> Draws[str]:
    return Draws(sources())


def random_text(seed: int, index: int) -> str:
    """A piece of a text, edited."""
    choose = random.Random(f"{seed}/{index}")
    source = _draws().draw(choose)
    start = choose.randrange(max(1, len(source) - LONGEST // 2))
    text = source[start : start + choose.randint(1, LONGEST)]
    for _ in range(choose.randint(0, 4)):
        at = choose.randrange(len(text) + 1)
        end = min(len(text), at + choose.choice((0, 0, 0, 1, 1, 2, 12)))
        piece = "".join(choose.choices(BREAKERS, k=choose.randint(0, 3)))
        if choose.random() < 0.1:
            piece = text[at : at + 20]
        text = text[:at] + piece + text[end:]
    return text if choose.random() < 0.1 else _ended(text)


def _ended(text: str) -> str:
    """A text in which mostly no quote or comment is left open, so that lexers can go on."""
    for _ in range(3):
        kind, start, end = (lexemes(text) or [(LexemeKind.NAME, 0, 0)])[-1]
        if kind < LexemeKind.COMMENT or end < len(text):
            break
        quote = text[start : start + 2].strip("rR")[:1]
        text += {LexemeKind.COMMENT: "*/", LexemeKind.CODE: "$$"}.get(LexemeKind(kind), quote)
    return text


# --- runs


@dataclass(slots=True)
class Count:
    """What became of the texts of a run."""

    texts: int = 0
    reported: int = 0
    wrong: list[str] = field(default_factory=list)


def check(texts: Sequence[tuple[str, str]], spark: Callable[[str], list[Lexeme]]) -> Count:
    """Holds texts, each with its name, against Spark; many go to it at once."""
    count = Count(len(texts))
    for page in _pages(texts):
        whole = BETWEEN.join(text for _, text in page)
        theirs = spark(whole)
        starts = [start for _, start, _ in theirs]
        at = 0
        for name, text in page:
            inside = theirs[bisect_right(starts, at - 1) : bisect_right(starts, at + len(text))]
            mine = [(kind, start - at, end - at) for kind, start, end in inside]
            mine = [lexeme for lexeme in mine if lexeme[1] < len(text)]
            tokens, unreadable = read(text)
            wrong = lexed_otherwise(text, mine) or untold(text, mine, tokens, unreadable)
            if wrong is not None:
                count.wrong.append(f"{name}: {wrong}\n    {text!r}")
            count.reported += bool(unreadable)
            at += len(text) + len(BETWEEN)
    return count


def _pages(texts: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """The texts in order, some at a time; one that does not end what it opens is the last."""
    page: list[tuple[str, str]] = []
    for name, text in texts:
        page.append((name, text))
        ours = lexemes(text)
        # Nothing may be open behind a text, nor a `-- \` that goes on.
        endless = bool(ours) and ours[-1][0] >= LexemeKind.COMMENT and ours[-1][2] == len(text)
        if endless or len(page) == PAGE:
            yield page
            page = []
    if page:
        yield page


def run(
    spark: Callable[[str], list[Lexeme]], seed: int, first: int, count: int, seconds: float
) -> tuple[Count, int]:
    """Checks texts of a seed until they are done, or the time is up; and which one is next."""
    total, started, at = Count(), time.monotonic(), first
    while at < first + count and time.monotonic() - started < seconds:
        until = min(at + 1000, first + count)
        texts = [(f"--seed {seed} --from {n}", random_text(seed, n)) for n in range(at, until)]
        part = check(texts, spark)
        total.texts, total.reported = total.texts + part.texts, total.reported + part.reported
        total.wrong += part.wrong
        at = until
        print(f"{at - first:,} of {count:,}, {len(total.wrong)} wrong", file=sys.stderr)
    return total, at


def main() -> None:
    parser = numbered.options("tokens", __doc__, 200_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").getOrCreate()
    lexer = SparkLexer(session._jvm)
    count, at = run(lexer, arguments.seed, arguments.first, arguments.count, arguments.seconds)
    print(*count.wrong[:20], sep="\n")
    print(f"{count.texts:,} texts, {count.reported:,} told, {len(count.wrong):,} wrong; next: {at}")
    sys.exit(bool(count.wrong))


if __name__ == "__main__":
    main()
