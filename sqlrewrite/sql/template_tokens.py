"""Masked templates as tokens: what each stands for, cut to the stretch of text that it takes up.

In: the tokens of a masked text. Out: tokens in which a ``ref`` is the dotted name of its relation,
a constant a named parameter, anything else the call of an unknown function. Their offsets tile the
expression's, so that a slice of the text at them is the expression itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from sqlglot import Token, TokenType, exp

from sqlrewrite.text.templates import Masked, Obstacle, Refer, Template, TemplateKind, on_one_line
from sqlrewrite.warehouse import Name

# After these comes the name of a relation.
_BEFORE_NAME = frozenset(
    {TokenType.FROM, TokenType.JOIN, TokenType.INTO, TokenType.TABLE, TokenType.UPDATE}
)
_BEFORE_MADE = frozenset({TokenType.TABLE, TokenType.VIEW, TokenType.EXISTS})
_MADE = " made"
_SIGNS = ("{{", "$")

# A statement of another kind changes what names mean: there only names may be templates, up to the
# query in it.
_QUERIES = frozenset(
    {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.INSERT, TokenType.FROM}
)

# Where an operand stands, and the clauses in which a constant is one.
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.ILike, exp.Between)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe)
_OPERANDS = (*_COMPARISONS, *_ARITHMETIC, exp.In, exp.Func, exp.Cast, exp.Paren)
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join, exp.Partition)
_WHOLE = (exp.Connector, exp.Not, exp.Group, *_CONDITIONS)


def substituted(
    tokens: Sequence[Token], masked: Masked, refer: Refer
) -> tuple[list[Token], list[Obstacle]]:
    """The tokens with what the templates of ``masked`` stand for, and those templates that stand
    for nothing that can be read."""
    templates = {template.start: template for template in masked.templates}
    found: list[Token] = []
    obstacles: list[Obstacle] = []
    for token in tokens:
        template = templates.get(token.start)
        if template is None:
            found.append(token)
            continue
        del templates[token.start]
        pieces = _pieces(template, token, _lead(found), masked.text, refer)
        if isinstance(pieces, str):
            obstacles.append(_obstacle(template, pieces))
            found.append(token)
        else:
            found += _tiled(token, pieces)
    # The lexer sees them inside of a string or comment, where the mask saw code.
    obstacles += [
        _obstacle(left, "cannot be told from the text around") for left in templates.values()
    ]
    return found, obstacles


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
    word = token.token_type in (TokenType.IDENTIFIER, TokenType.VAR)
    if not word or token.end != template.end - 1:
        return "cannot be told from the text around"
    behind_dot = text[template.start - 1 : template.start] == "."
    dotted = behind_dot or text[template.end : template.end + 1] == "."
    named = dotted or lead in _BEFORE_NAME or lead in _BEFORE_MADE
    match template.kind:
        case TemplateKind.REFERENCE:
            name = None if behind_dot else refer(template.reference)
            if name is None:
                return "is in no manifest, and there is no one table of that name in the catalog"
            return _dotted(name)
        case TemplateKind.THIS | TemplateKind.VALUE if named:
            # A relation or column that nobody knows. What a statement makes under such a name is
            # not what another reads under it: a SET in between may have changed what it is.
            made = _MADE if lead in _BEFORE_MADE else ""
            return [(TokenType.IDENTIFIER, f"{template.text}{made}")]
        case TemplateKind.VALUE:
            return [(TokenType.COLON, ":"), (TokenType.VAR, template.text)]
        case TemplateKind.THIS | TemplateKind.NOTHING | TemplateKind.OTHER:
            if dotted:
                return "is a part of a name that is not known"
            call = [(TokenType.L_PAREN, "("), (TokenType.R_PAREN, ")")]
            return [(TokenType.VAR, template.text), *call]


def _dotted(name: Name) -> list[_Piece]:
    pieces: list[_Piece] = []
    for part in name:
        pieces += [(TokenType.DOT, "."), (TokenType.IDENTIFIER, part)]
    return pieces[1:]


def _tiled(token: Token, pieces: Sequence[_Piece]) -> Iterator[Token]:
    """Tokens side by side over the stretch of one: of a name the last part takes what is left, of a
    call the function's name does."""
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
    of the table that is made of one: what the statement defines would not be known. A view whose
    query holds one is read under its own name, with whatever it was made of."""
    if tokens[0].token_type in _QUERIES:
        return None
    query = any(token.token_type is TokenType.SELECT for token in tokens)
    makes = tokens[0].token_type is TokenType.CREATE and query
    starts = {template.start: template for template in templates}
    for token in tokens:
        if makes and token.token_type in (TokenType.SELECT, TokenType.WITH):
            break
        found = starts.get(token.start)
        known = found is not None and found.kind is TemplateKind.REFERENCE
        if found is not None and not known and not (makes and token.text.endswith(_MADE)):
            return _obstacle(found, "stands in a definition")
    return None


def misplaced(templates: Sequence[Template], tree: exp.Expr) -> Obstacle | None:
    """A template of a statement in a place where it may be more than it looks: a whole condition
    might hold an OR, and a constant that is no operand of a condition might be several."""
    for node in tree.find_all(exp.Placeholder, exp.Anonymous):
        why = _against(node) if str(node.this).startswith(_SIGNS) else None
        if why is not None:
            found = next(each for each in templates if each.text == node.this)
            return _obstacle(found, why)
    return None


def _against(node: exp.Expr) -> str | None:
    parent = node.parent
    if isinstance(parent, _WHOLE):
        return "may be more than one condition or key"
    if isinstance(node, exp.Anonymous) or isinstance(parent, exp.Limit | exp.Offset):
        return None  # what is called is known to be anything, and a limit is a barrier
    if isinstance(parent, _OPERANDS) and isinstance(_clause(node), _CONDITIONS):
        return None
    return "may be more than one value here: it is read as one in conditions alone"


def _clause(node: exp.Expr) -> exp.Expr | None:
    above = node.parent
    while above is not None and not isinstance(above, (*_CONDITIONS, exp.Query)):
        above = above.parent
    return above
