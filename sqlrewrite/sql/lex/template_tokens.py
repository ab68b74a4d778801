"""Masked templates as tokens: what each stands for, cut to the stretch of text that it takes up.

In: the tokens of a masked text. Out: tokens in which a ``ref`` is the dotted name of its relation,
a constant a named parameter, anything else the call of an unknown function. Their offsets tile the
expression's, so that a slice of the text at them is the expression itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from sqlglot import Token, TokenType, exp

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
from sqlrewrite.text.variables import given
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

# A statement of another kind changes what names mean: there only names may be templates, up to the
# query in it.
_QUERIES = token_types("select with l_paren from insert merge update delete")
_MAKES = token_types("create replace cache")

# Behind an operand stands an operator, and no value; but for words that sqlglot takes for names.
_OPERAND_ENDS = _NAMES | token_types("number string r_paren r_bracket null true false")
_OPERAND_BEGINS = (_OPERAND_ENDS | {TokenType.L_PAREN}) - {TokenType.R_PAREN, TokenType.R_BRACKET}
_NO_OPERANDS = frozenset({"of", "directory", "location"})
_NO_VALUE = "stands where no value can: it may be any operator, condition or clause"

# Where an operand stands, and what holds a whole condition.
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.ILike, exp.Between)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe)
_OPERANDS = (*_COMPARISONS, *_ARITHMETIC, exp.In, exp.Func, exp.Cast, exp.Paren, exp.Case, exp.If)
_ONE = (*_OPERANDS, exp.Limit, exp.Offset)
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join)
_CONNECTIVES = (exp.Connector, exp.Not)


class _Relations:
    """Whether the place is in a FROM, where commas part relations, and ``within`` a query."""

    def __init__(self) -> None:
        self.within = False
        self._depth = 0
        self._open: set[int] = set()

    @property
    def inside(self) -> bool:
        """Whether a relation may stand here."""
        return self._depth in self._open

    def step(self, kind: TokenType) -> None:
        """Goes on by a token."""
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


def substituted(
    tokens: Sequence[Token], masked: Masked, text: str, refer: Refer
) -> tuple[list[Token], list[Obstacle]]:
    """The tokens with what the templates of ``masked`` stand for, and those templates that stand
    for nothing that can be read; ``text`` is what was masked."""
    templates = {template.start: template for template in masked.templates}
    parts = deque(it for it in masked.templates if it.kind is TemplateKind.PART)
    relations = _Relations()
    found: list[Token] = []
    obstacles: list[Obstacle] = []
    for token, behind in zip_longest(tokens, tokens[1:]):
        relations.step(token.token_type)
        template = templates.get(token.start)
        if parts and parts[0].start <= token.end:
            found.append(_whole(token, parts, templates, text, refer))
            continue
        if template is None:
            found.append(named(token, text, refer))
            continue
        del templates[token.start]
        lead = _lead(found)
        if lead is TokenType.COMMA and relations.inside:
            lead = TokenType.FROM
        if relations.within and _is_operand(found[-1]):
            pieces = _operator(template, None if relations.inside else behind)
        else:
            pieces = _pieces(template, token, lead, masked.text, refer)
        if isinstance(pieces, str):
            obstacles.append(_obstacle(template, pieces))
            found.append(token)
        else:
            found += tiled(token, pieces)
    # The lexer sees them inside of a string or comment, where the mask saw code.
    obstacles += [
        _obstacle(left, "cannot be told from the text around") for left in templates.values()
    ]
    return found, obstacles


def _whole(
    token: Token, parts: deque[Template], templates: dict[int, Template], text: str, refer: Refer
) -> Token:
    """The name that a token is, with the templates that are parts of it as they are written, or as
    they are known; what is more than a word is left, and so are its templates."""
    word = token.token_type in _NAMES
    while parts and parts[0].start <= token.end:
        part = parts.popleft()
        if word and token.start <= part.start and part.end <= token.end + 1:
            del templates[part.start]
    if not word:
        return token
    return _called(token, given(text[token.start : token.end + 1], refer))


def named(token: Token, text: str, refer: Refer) -> Token:
    """A name whose variables stand for what ``refer`` says; any other token as it is."""
    if token.token_type not in _NAMES:
        return token
    raw = text[token.start : token.end + 1]
    name = given(raw, refer)
    return token if name == raw else _called(token, name.strip("`"))


def _called(token: Token, name: str) -> Token:
    return Token(
        TokenType.IDENTIFIER, name, token.line, token.col, token.start, token.end, token.comments
    )


def _obstacle(template: Template, why: str) -> Obstacle:
    return Obstacle(template.start, template.end, f"{on_one_line(template.text)} {why}")


def _lead(found: Sequence[Token]) -> TokenType | None:
    """The type of the token before the dotted name that goes on, or begins, behind the last."""
    index = len(found) - 1
    while index >= 0 and found[index].token_type is TokenType.DOT:
        index -= 2
    return found[index].token_type if index >= 0 else None


_Piece = tuple[TokenType, str]


def _pieces(
    template: Template, token: Token, lead: TokenType | None, text: str, refer: Refer
) -> list[_Piece] | str:
    """The types and texts of the tokens for a template, or why there are none; ``lead`` is what
    stands before it, or before the name that it is a part of."""
    if token.token_type not in _NAMES or token.end != template.end - 1:
        return "cannot be told from the text around"
    behind_dot = text[template.start - 1 : template.start] == "."
    dotted = behind_dot or text[template.end : template.end + 1] == "."
    is_named = dotted or lead in _BEFORE_NAME or lead in _BEFORE_MADE
    name = given(template.text, refer) if is_named or lead in _BEFORE_SCHEMA else template.text
    if name != template.text:
        return [(TokenType.IDENTIFIER, name)]
    match template.kind:
        case TemplateKind.REFERENCE:
            if behind_dot:
                return "is a part of a name that is not known"
            known = refer(template.reference)
            # A relation that nobody knows, where it is in no manifest, and not the only table of
            # that name in the catalog.
            return _dotted(known) if known else [(TokenType.IDENTIFIER, on_one_line(template.text))]
        case TemplateKind.THIS | TemplateKind.VALUE if is_named:
            # A relation or column that nobody knows. What a statement makes under such a name is
            # not what another reads under it: a SET in between may have changed what it is.
            made = _MADE if lead in _BEFORE_MADE else ""
            return [(TokenType.IDENTIFIER, f"{template.text}{made}")]
        case TemplateKind.VALUE:
            return [(TokenType.COLON, ":"), (TokenType.VAR, template.text)]
        case TemplateKind.OTHER if is_named and is_name(template.text):
            return [(TokenType.IDENTIFIER, template.text)]
        case TemplateKind.PART:
            return "cannot be told from the text around"
        case TemplateKind.THIS | TemplateKind.NOTHING | TemplateKind.OTHER:
            if dotted:
                return "is a part of a name that is not known"
            if text[template.end : template.end + 1] == "(":  # with what it is given
                return [(TokenType.VAR, template.text)]
            call = [(TokenType.L_PAREN, "("), (TokenType.R_PAREN, ")")]
            return [(TokenType.VAR, template.text), *call]


def _is_operand(token: Token) -> bool:
    """Whether an operand ends with a token, behind which no value can stand."""
    return token.token_type in _OPERAND_ENDS and token.text.lower() not in _NO_OPERANDS


def _operator(template: Template, behind: Token | None) -> list[_Piece] | str:
    """What stands between two operands, of which ``behind`` begins the second: two ORs with a name
    between them, so that ``loosened`` finds all that it may connect."""
    fits = template.kind is TemplateKind.VALUE or is_name(template.text)
    if not fits or behind is None or behind.token_type not in _OPERAND_BEGINS:
        return _NO_VALUE
    either = (TokenType.OR, "OR")
    return [either, (TokenType.VAR, template.text), either]


def _dotted(name: Name) -> list[_Piece]:
    parts = [((TokenType.DOT, "."), (TokenType.IDENTIFIER, part)) for part in name]
    return [piece for both in parts for piece in both][1:]


def tiled(token: Token, pieces: Sequence[_Piece]) -> Iterator[Token]:
    """Tokens side by side over the stretch of one; a name's last is long, a call's first."""
    widths = [1] * len(pieces)
    longest = 0 if pieces[-1][0] is TokenType.R_PAREN else -1
    widths[longest] = token.end - token.start + 2 - len(pieces)
    start = token.start
    for (kind, text), width in zip(pieces, widths, strict=True):
        yield Token(kind, text, token.line, token.col, start, start + width - 1)
        start += width


def among(templates: Sequence[Template], tokens: Sequence[Token]) -> Sequence[Template]:
    """The templates among a statement's tokens."""
    start, stop = (
        bisect_left(templates, offset, key=lambda template: template.start)
        for offset in (tokens[0].start, tokens[-1].end + 1)
    )
    return templates[start:stop]


def unfit(templates: Sequence[Template], tokens: Sequence[Token]) -> Obstacle | None:
    """A template in a statement that is not a query alone, before its query, unless it is the name
    of the table that is made of one: what the statement defines would not be known. What stands
    behind that name says nothing of the query; a view whose query holds one is read under its own
    name, with whatever it was made of."""
    if tokens[0].token_type in _QUERIES:
        return None
    query = any(token.token_type is TokenType.SELECT for token in tokens)
    makes = tokens[0].token_type in _MAKES and query
    starts = {template.start: template for template in templates}
    for token in _up_to_name(tokens) if makes else tokens:
        found = starts.get(token.start)
        known = found is not None and found.kind in (TemplateKind.REFERENCE, TemplateKind.PART)
        known = known or (token.token_type in _NAMES and not has_template(token.text))
        if found is not None and not known and not (makes and token.text.endswith(_MADE)):
            return _obstacle(found, "stands in a definition")
    return None


def _up_to_name(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens of a CREATE down to the name of what it makes."""
    kinds = (n for n, it in enumerate(tokens) if it.token_type in _MADE_KINDS)
    end = next(kinds, len(tokens)) + 1
    while end < len(tokens) and tokens[end].text.upper() in ("IF", "NOT", "EXISTS"):
        end += 1
    end += 1
    while end < len(tokens) and tokens[end].token_type is TokenType.DOT:
        end += 2
    return tokens[:end]


def loosened(tree: exp.Expr) -> None:
    """Makes the templates of a statement that may be more than they look the calls of functions
    that nobody knows: a constant that is no operand might be several, or a column. A whole
    condition might hold an OR, and with it all conditions around it, down to their parentheses;
    so might an operator."""
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
            whole.replace(exp.Anonymous(this=node.name if operator else node.this))
