"""Masked templates as tokens that the parser reads.

In: the tokens of a masked text. Out: tokens in which a ``ref`` is the dotted name of its relation,
a constant a named parameter, anything else the call of an unknown function. Together they cover the
stretch of the template, so that a slice of the text from the first to the last is the template.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import zip_longest

from sqlglot import Token, TokenType, exp

from sqlrewrite.plan.facts.functions import function
from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.text.template_kinds import TemplateKind
from sqlrewrite.text.templates import (
    Masked,
    Obstacle,
    Refer,
    Template,
    is_name,
    is_template,
    on_one_line,
)
from sqlrewrite.text.variables import set_values, with_values
from sqlrewrite.warehouse import Name, has_template

# After these comes the name of a relation.
_BEFORE_NAME = token_types("from join into table update")
_MADE_KINDS = token_types("table view function")
_BEFORE_MADE = _MADE_KINDS | {TokenType.EXISTS}
_BEFORE_SCHEMA = token_types("use schema database")
_MADE = " made"
_NAMES = token_types("identifier var")

# Where a FROM ends, in which a comma has the name of a relation behind it.
_ENDS_FROM = token_types(
    "select where group_by having order_by sort_by cluster_by distribute_by limit offset qualify"
    " window union except intersect lateral insert set when on"
)

# In a statement of another kind, which changes what names mean, only names may be templates before
# its query.
_QUERIES = token_types("select with l_paren from insert merge update delete")
_MAKES = token_types("create replace cache")

# After an operand comes an operator, and no value; except for words that sqlglot takes for names.
_OPERAND_ENDS = _NAMES | token_types("number string r_paren r_bracket null true false")
_OPERAND_BEGINS = (_OPERAND_ENDS | {TokenType.L_PAREN}) - {TokenType.R_PAREN, TokenType.R_BRACKET}
_NO_OPERANDS = frozenset({"of", "directory", "location"})
_NO_VALUE = "stands where no value can: it may be any operator, condition or clause"
_NOT_APART = "may be part of a string, a comment or a longer word"
_OF_A_NAME = "is part of a name, and its value is not known"

# Nodes whose children are operands; and nodes that hold a whole condition.
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.ILike, exp.Between)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe)
_OPERANDS = (*_COMPARISONS, *_ARITHMETIC, exp.In, exp.Func, exp.Cast, exp.Paren, exp.Case, exp.If)
_ONE = (*_OPERANDS, exp.Limit, exp.Offset)
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join)
_CONNECTIVES = (exp.Connector, exp.Not)


class _Relations:
    """Tracks whether a token stands in a FROM, whose commas separate relations, and in a query."""

    def __init__(self) -> None:
        self.within = False
        self._depth = 0
        self._open: set[int] = set()

    @property
    def inside(self) -> bool:
        """Whether a relation may stand here."""
        return self._depth in self._open

    def step(self, kind: TokenType) -> None:
        """Moves on by a token."""
        if kind in (TokenType.FROM, TokenType.JOIN):
            self._open.add(self._depth)
        elif kind is TokenType.L_PAREN:
            self._depth += 1
        elif kind is TokenType.R_PAREN:
            self._open.discard(self._depth)
            self._depth -= 1
        elif kind in _ENDS_FROM:
            self._open.discard(self._depth)
            self.within = self.within or kind is TokenType.SELECT
        elif kind is TokenType.SEMICOLON:
            self.within = False


def with_templates(
    tokens: Sequence[Token], masked: Masked, text: str, refer: Refer
) -> tuple[list[Token], list[Obstacle]]:
    """The tokens with those of templates in place of their masks, and the templates that cannot be
    read; ``text`` is the text before masking."""
    templates = {template.start: template for template in masked.templates}
    parts = deque(hole for hole in masked.templates if hole.kind is TemplateKind.PART)
    relations = _Relations()
    joined: list[Token] = []
    obstacles: list[Obstacle] = []
    for token, behind in zip_longest(tokens, tokens[1:]):
        relations.step(token.token_type)
        template = templates.get(token.start)
        if parts and parts[0].start <= token.end:
            joined.append(_name_with_templates(token, parts, templates, text, refer))
            continue
        if template is None:
            joined.append(with_variables(token, text, refer))
            continue
        del templates[token.start]
        lead = _lead(joined)
        if lead is TokenType.COMMA and relations.inside:
            lead = TokenType.FROM
        if relations.within and _is_operand(joined[-1]):
            pieces = _operator(template, None if relations.inside else behind)
        else:
            pieces = _template_tokens(template, token, lead, masked.text, refer)
        if isinstance(pieces, str):
            obstacles.append(_obstacle(template, pieces))
            joined.append(token)
        else:
            joined += tiled(token, pieces)
    # The lexer sees these inside a string or comment, where the mask saw code.
    obstacles += [_obstacle(unread, _NOT_APART) for unread in templates.values()]
    return joined, obstacles


def _name_with_templates(
    token: Token, parts: deque[Template], templates: dict[int, Template], text: str, refer: Refer
) -> Token:
    """A token that is a name, with the templates in it as written, or with their known values. Any
    other token is returned as it is, and its templates stay in ``parts``."""
    word = token.token_type in _NAMES
    while parts and parts[0].start <= token.end:
        part = parts.popleft()
        if word and token.start <= part.start and part.end <= token.end + 1:
            del templates[part.start]
    if not word:
        return token
    return _identifier(token, with_values(text[token.start : token.end + 1], refer))


def with_variables(token: Token, text: str, refer: Refer) -> Token:
    """A name with the values of its variables that ``refer`` knows; any other token as it is."""
    if token.token_type not in _NAMES:
        return token
    raw = text[token.start : token.end + 1]
    name = with_values(raw, refer)
    return token if name == raw else _identifier(token, name.strip("`"))


def _identifier(token: Token, name: str) -> Token:
    return Token(
        TokenType.IDENTIFIER, name, token.line, token.col, token.start, token.end, token.comments
    )


def _obstacle(template: Template, why: str) -> Obstacle:
    return Obstacle(template.start, template.end, f"`{on_one_line(template.text)}` {why}")


def _lead(found: Sequence[Token]) -> TokenType | None:
    """The type of the token before a dotted name whose next part would follow the last token; None
    if there is none."""
    index = len(found) - 1
    while index >= 0 and found[index].token_type is TokenType.DOT:
        index -= 2
    return found[index].token_type if index >= 0 else None


_Piece = tuple[TokenType, str]


def _template_tokens(
    template: Template, token: Token, lead: TokenType | None, text: str, refer: Refer
) -> list[_Piece] | str:
    """The types and texts of the tokens for a template, or why it has none; ``lead`` is the type of
    the token before it, or before the name that it is a part of."""
    if token.token_type not in _NAMES or token.end != template.end - 1:
        return _NOT_APART
    behind_dot = text[template.start - 1 : template.start] == "."
    dotted = behind_dot or text[template.end : template.end + 1] == "."
    is_named = dotted or lead in _BEFORE_NAME or lead in _BEFORE_MADE
    name = (
        with_values(template.text, refer) if is_named or lead in _BEFORE_SCHEMA else template.text
    )
    if name != template.text:
        return [(TokenType.IDENTIFIER, name)]
    match template.kind:
        case TemplateKind.REFERENCE:
            if behind_dot:
                return _OF_A_NAME
            relation = refer(template.reference)
            # An unknown relation if it is in no manifest, and not the only table of that name in
            # the catalog.
            return (
                _dotted(relation)
                if relation
                else [(TokenType.IDENTIFIER, " ".join(template.text.split()))]
            )
        case TemplateKind.THIS if (this := refer(template.reference)) and is_named and not dotted:
            return _dotted(this)
        case TemplateKind.THIS | TemplateKind.VALUE if is_named:
            # An unknown relation or column. What one statement makes under such a name is not what
            # another reads under it: a SET in between may have changed the template's value.
            computed = _MADE if lead in _BEFORE_MADE else ""
            return [(TokenType.IDENTIFIER, f"{template.text}{computed}")]
        case TemplateKind.VALUE:
            shown = SetValue.CONSTANT if dotted else _worst_kind(set_values(template.text, refer))
            if shown is SetValue.ANY_TEXT:
                return "is set in this text to what may be more than one operand, such as `a OR b`"
            if shown is SetValue.CONSTANT:
                return [(TokenType.COLON, ":"), (TokenType.VAR, template.text)]
            return _unknown_call(template)
        case TemplateKind.OTHER if is_named and is_name(template.text):
            return [(TokenType.IDENTIFIER, template.text)]
        case TemplateKind.PART:
            return _NOT_APART
        case TemplateKind.THIS | TemplateKind.NOTHING | TemplateKind.OTHER:
            if dotted:
                return _OF_A_NAME
            if text[template.end : template.end + 1] == "(":  # the arguments follow in the text
                return [(TokenType.VAR, template.text)]
            return _unknown_call(template)


def _unknown_call(template: Template) -> list[_Piece]:
    call = [(TokenType.L_PAREN, "("), (TokenType.R_PAREN, ")")]
    return [(TokenType.VAR, template.text), *call]


def _is_operand(token: Token) -> bool:
    """Whether a token ends an operand, so that no value can follow."""
    return token.token_type in _OPERAND_ENDS and token.text.lower() not in _NO_OPERANDS


def _operator(template: Template, behind: Token | None) -> list[_Piece] | str:
    """The tokens of a template between two operands, the second of which begins with ``behind``: a
    name between two ORs, so that ``weaken_templates`` finds what the template may connect; or why
    there are none."""
    fits = template.kind is TemplateKind.VALUE or is_name(template.text)
    if not fits or behind is None or behind.token_type not in _OPERAND_BEGINS:
        return _NO_VALUE
    either = (TokenType.OR, "OR")
    return [either, (TokenType.VAR, template.text), either]


def _dotted(name: Name) -> list[_Piece]:
    parts = [((TokenType.DOT, "."), (TokenType.IDENTIFIER, part)) for part in name]
    return [piece for both in parts for piece in both][1:]


def tiled(token: Token, pieces: Sequence[_Piece]) -> Iterator[Token]:
    """Tokens with these types and texts, side by side over the stretch of ``token``. All are one
    character wide except the last of a name, or the first of a call."""
    widths = [1] * len(pieces)
    longest = 0 if pieces[-1][0] is TokenType.R_PAREN else -1
    widths[longest] = token.end - token.start + 2 - len(pieces)
    start = token.start
    for (kind, text), width in zip(pieces, widths, strict=True):
        yield Token(kind, text, token.line, token.col, start, start + width - 1)
        start += width


def templates_among(templates: Sequence[Template], tokens: Sequence[Token]) -> Sequence[Template]:
    """The templates among a statement's tokens."""
    start, stop = (
        bisect_left(templates, offset, key=lambda template: template.start)
        for offset in (tokens[0].start, tokens[-1].end + 1)
    )
    return templates[start:stop]


def misplaced_template(templates: Sequence[Template], tokens: Sequence[Token]) -> Obstacle | None:
    """A template that makes it unknown what a statement defines; None if there is none. In a
    statement that makes something from a query, the name of what it makes, and all after it, may
    hold templates."""
    if tokens[0].token_type in _QUERIES:
        return None
    query = any(token.token_type is TokenType.SELECT for token in tokens)
    makes = tokens[0].token_type in _MAKES and query
    starts = {template.start: template for template in templates}
    for token in _up_to_name(tokens) if makes else tokens:
        misplaced = starts.get(token.start)
        in_place = misplaced is not None and misplaced.kind in (
            TemplateKind.REFERENCE,
            TemplateKind.PART,
        )
        in_place = in_place or (token.token_type in _NAMES and not has_template(token.text))
        if misplaced is not None and not in_place and not (makes and token.text.endswith(_MADE)):
            return _obstacle(misplaced, "stands where the statement says what it defines")
    return None


def _up_to_name(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens of a CREATE up to the name of what it makes."""
    kinds = (n for n, token in enumerate(tokens) if token.token_type in _MADE_KINDS)
    end = next(kinds, len(tokens)) + 1
    while end < len(tokens) and tokens[end].text.upper() in ("IF", "NOT", "EXISTS"):
        end += 1
    end += 1
    while end < len(tokens) and tokens[end].token_type is TokenType.DOT:
        end += 2
    return tokens[:end]


WEAKENED = "weakened"
"""The key in the ``meta`` of a call of an unknown function: what stands there."""


def weaken_templates(tree: exp.Expr) -> None:
    """Turns templates that may be more than one operand into calls of unknown functions. A constant
    outside of an operation may be several operands, or a column; a whole condition or an operator
    may hold an OR, so all conditions around it up to parentheses become unknown with it."""
    for node in list(tree.find_all(exp.Placeholder, exp.Anonymous, exp.Column)):
        operator = isinstance(node, exp.Column)
        if not is_template(node.name if operator else str(node.this)):
            continue
        if operator and not isinstance(node.parent, exp.Connector):
            continue
        whole: exp.Expr = node
        while isinstance(whole.parent, _CONNECTIVES):
            whole = whole.parent
        condition = whole is not node or isinstance(node.parent, _CONDITIONS)
        if condition or (isinstance(node, exp.Placeholder) and not isinstance(node.parent, _ONE)):
            unknown = exp.Anonymous(this=node.name if operator else node.this)
            whole.replace(unknown)
            unknown.meta[WEAKENED] = whole


class SetValue(IntEnum):
    """The kind of value that SETs in the same text give a variable ``${day}``: a constant, one
    operand that may vary, or a text that may hold several operands."""

    CONSTANT = 0
    OPERAND = 1
    ANY_TEXT = 2


_STRINGS = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"")
# Arithmetic over constants binds more tightly than a comparison.
_CONSTANT_TEXT = re.compile(r"(?:[\d.]+|[sd]|[-+*/%(),\s])*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT = ("--", "/*", ";")
_WORDS_OF_CONSTANTS = frozenset(
    "as int integer bigint smallint tinyint string date timestamp timestamp_ntz decimal double"
    " float boolean true false null day days month months year years hour hours minute minutes"
    " interval current_date current_timestamp".split()
)


def _worst_kind(values: tuple[str, ...]) -> SetValue:
    """The least certain kind among the values that a variable is set to."""
    return max(map(_of_one, values), default=SetValue.CONSTANT)


def _of_one(value: str) -> SetValue:
    """The kind of one value."""
    plain = _STRINGS.sub(" s ", value.strip())
    if not plain or any(sign in plain for sign in _COMMENT) or not _is_balanced(plain):
        return SetValue.ANY_TEXT
    if _CONSTANT_TEXT.fullmatch(plain):
        return SetValue.CONSTANT if "," not in _outside(plain) else SetValue.ANY_TEXT
    outside = _outside(plain).split()
    typed = len(outside) == 2 and outside[1] == "s" and outside[0].lower() in _WORDS_OF_CONSTANTS
    if not (typed or (len(outside) == 1 and _is_primary(outside[0]))):
        return SetValue.ANY_TEXT
    return SetValue.CONSTANT if _is_constant(plain) else SetValue.OPERAND


def _is_primary(outside: str) -> bool:
    """Whether a value is a single word, dotted name, call or pair of parentheses."""
    name, call, rest = outside.partition("()")
    parts = name.split(".") if name else []
    return not rest and bool(name or call) and all(_WORD.fullmatch(part) for part in parts)


def _is_constant(plain: str) -> bool:
    """Whether a value consists of constants and calls of deterministic functions."""
    for match in _WORD.finditer(plain):
        word = match.group().lower()
        if word in _WORDS_OF_CONSTANTS or word == "s":
            continue
        row = function(word) if plain[match.end() :].lstrip().startswith("(") else None
        if row is None or not row.repeatable or row.kind != "scalar":
            return False
    return "." not in _outside(plain)


def _is_balanced(plain: str) -> bool:
    """Whether each parenthesis has a partner, in order."""
    depth = 0
    for sign in plain:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def _outside(plain: str) -> str:
    """The text outside of parentheses, which become ``()``."""
    depth, signs = 0, list[str]()
    for sign in plain:
        depth -= sign == ")"
        if depth == 0:
            signs.append(sign)
        depth += sign == "("
    return "".join(signs).replace(" (", "(")
