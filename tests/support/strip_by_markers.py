"""The text without our predicates, found by code that the rewriter does not share.

In: a Spark text. Out: the text as it was before any run. A predicate is ours where it carries the
marker and is by itself a conjunct of a WHERE or ON, in one of the three forms that are written:
``AND p IN (…) /*marker*/``, ``WHERE p IN (…) /*marker*/``, ``p IN (…) /*marker*/ AND (… OR …)``;
so with a set or a range in place of the IN, and with a constant in the ON of a MERGE.
"""

from __future__ import annotations

import re

from sqlrewrite.text.markers import MARKER

LEXEME = re.compile(
    r"--[^\r\n]*|/\*.*?\*/|\{#.*?#\}|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`|[<>]=|::|\w+|\s+|.",
    re.DOTALL,
)

_ENDS = frozenset(
    """
    cluster cross distribute except full group having inner intersect join lateral left limit minus
    natural offset on order qualify right sort union where window
    """.split()
)

_BREAKS = frozenset("( ; or case when then else having qualify".split())


def without_predicates(text: str) -> str:
    """The text without its managed predicates, from the last to the first."""
    lexemes = _put_back([match.group() for match in LEXEME.finditer(text)])
    while True:
        marked = [i for i, lexeme in enumerate(lexemes) if lexeme == MARKER]
        kept = next((rest for i in reversed(marked) if (rest := _without(lexemes, i))), None)
        if kept is None:
            return "".join(lexemes)
        lexemes = kept


def _put_back(lexemes: list[str]) -> list[str]:
    """The lexemes; before ``;``, ``,`` or ``do`` a marker that a formatter has moved behind it."""
    for at in range(2, len(lexemes)):
        closing = _before(lexemes, at - 2)
        if (
            lexemes[at] == MARKER
            and lexemes[at - 1].isspace()
            and lexemes[at - 2].lower() in (";", ",", "do")
            and _word(lexemes, closing) == ")"
        ):
            between = lexemes[closing + 1 : at - 1]
            lexemes[closing + 1 : at + 1] = [" ", MARKER, *between]
    return lexemes


def void(lexeme: str) -> bool:
    """Whether a lexeme is white space or a comment, Jinja's too."""
    return lexeme.isspace() or lexeme.startswith(("--", "/*", "{#"))


def _without(lexemes: list[str], marker: int) -> list[str] | None:
    """The lexemes without the predicate that a marker closes; None where that is not ours."""
    first = _first(lexemes, marker)
    if first is None or not _conjunct(lexemes, first):
        return None
    before, after = _before(lexemes, first), _after(lexemes, marker)
    follows = _word(lexemes, after)
    if follows == "and" and _word(lexemes, before) != "and":
        return _opened(lexemes, first, after)
    if "or" in _until_end(lexemes, marker + 1):
        return None
    return lexemes[: _blank(lexemes, before)] + lexemes[marker + 1 :]


def _first(lexemes: list[str], marker: int) -> int | None:
    """Where the predicate before a marker begins, if it has one of our forms: ``value IN (…)``,
    ``value >= (…)``, ``value >= f(…)``, ``array_contains((…), value)``, ``(… OR …)``."""
    closing = marker - 2
    if closing >= 0 and lexemes[closing] != ")":
        return _in_merge(lexemes, closing)
    if closing < 0 or lexemes[closing] != ")" or not lexemes[marker - 1].isspace():
        return None
    inside = _before(lexemes, _match(lexemes, closing, -1))
    if _word(lexemes, inside) == "array_contains":
        return inside
    if _word(lexemes, inside) in ("where", "on", "and"):  # several under an OR
        opening = _match(lexemes, closing, -1)
        within = [lexeme.lower() for lexeme in lexemes[opening:closing]]
        return opening if "or" in within else None
    if _word(lexemes, inside).isidentifier() and _word(lexemes, inside) != "in":  # a call
        inside = _before(lexemes, inside)
    if _word(lexemes, inside) not in ("in", ">=", "<=", ">", "<", "="):
        return None
    first = _before(lexemes, inside)
    if _word(lexemes, first) == ")":
        first = _match(lexemes, first, -1)
        called = _before(lexemes, first)
        if _word(lexemes, called) in ("where", "on", "and"):
            return first
        first = called
    while lexemes[first - 1] in (".", "::"):
        first -= 2
    return first


def _in_merge(lexemes: list[str], last: int) -> int | None:
    """Where the conjunct that ends at an index begins, in the ON of a MERGE: ``p = constant``."""
    words = [lexeme.lower() for lexeme in lexemes[:last]]
    statement = words[len(words) - words[::-1].index(";") :] if ";" in words else words
    if "merge" not in statement:
        return None
    index = last
    while index >= 0 and _word(lexemes, index) not in ("and", "on"):
        if _word(lexemes, index) == ")":
            index = _match(lexemes, index, -1)
        index = _before(lexemes, index)
    return _after(lexemes, index)


def _conjunct(lexemes: list[str], first: int) -> bool:
    """Whether what stands at an index is the next conjunct of a WHERE or ON: back to that keyword
    there are only whole conjuncts."""
    index, ands = _before(lexemes, first), 0
    while index >= 0:
        word = _word(lexemes, index)
        if word == ")" or (word == "end" and _match(lexemes, index, -1) >= 0):
            index = _match(lexemes, index, -1)
        elif word in ("where", "on"):
            return True
        elif word == "and":
            ands += 1
        elif word == "between":
            ands -= 1
            if ands == 0:
                return False  # the AND before the predicate is that of the BETWEEN
        elif word in _BREAKS or (word == "not" and ands == 0):
            return False
        index = _before(lexemes, index)
    return False


def _opened(lexemes: list[str], first: int, conjunction: int) -> list[str] | None:
    """Without a predicate that opens its clause: and without our parentheses behind it."""
    opening = _after(lexemes, conjunction)
    if _word(lexemes, opening) == "(":
        closing = _match(lexemes, opening, 1)
        inner = lexemes[opening + 1 : closing]
        ends = not [word for word in _until_end(lexemes, closing + 1) if word]
        if ends and "or" in _until_end(lexemes, opening + 1):
            return lexemes[:first] + inner + lexemes[closing + 1 :]
    if "or" in _until_end(lexemes, conjunction):
        return None
    return lexemes[:first] + lexemes[opening:]


def _until_end(lexemes: list[str], index: int) -> list[str]:
    """The words of a condition from an index to its end, those in parentheses left out."""
    taken_out: list[str] = []
    while index < len(lexemes):
        word = _word(lexemes, index)
        if word in (")", ";") or word in _ENDS:
            break
        if word in ("(", "case"):
            index = _match(lexemes, index, 1)
        if not void(lexemes[index]):
            taken_out.append(word)
        index += 1
    return taken_out


def _word(lexemes: list[str], index: int) -> str:
    return lexemes[index].lower() if 0 <= index < len(lexemes) else ""


def _before(lexemes: list[str], index: int) -> int:
    index -= 1
    while index >= 0 and void(lexemes[index]):
        index -= 1
    return index


def _after(lexemes: list[str], index: int) -> int:
    index += 1
    while index < len(lexemes) and void(lexemes[index]):
        index += 1
    return index


def _blank(lexemes: list[str], index: int) -> int:
    return index - 1 if index and lexemes[index - 1].isspace() else index


def _match(lexemes: list[str], index: int, step: int) -> int:
    """The other parenthesis, or the END of a CASE; the far end of the text where there is none."""
    depth = 0
    while 0 <= index < len(lexemes):
        word = lexemes[index].lower()
        depth += (word in ("(", "case")) - (word in (")", "end"))
        if depth == 0:
            return index
        index += step
    return -1 if step < 0 else len(lexemes) - 1
