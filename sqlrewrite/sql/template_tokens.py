"""Masked templates as tokens: what each stands for, cut to the stretch of text that it takes up.

In: the tokens of a masked text. Out: tokens in which a ``ref`` is the dotted name of its relation,
a constant a named parameter, anything else the call of an unknown function. Their offsets tile the
expression's, so that a slice of the text at them is the expression itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from sqlglot import Token, TokenType, exp

from sqlrewrite.schema import Name
from sqlrewrite.sql.templates import Kind, Masked, Obstacle, Refer, Template, closed

# After these comes the name of a relation.
_BEFORE_NAME = frozenset(
    {TokenType.FROM, TokenType.JOIN, TokenType.INTO, TokenType.TABLE, TokenType.UPDATE}
)
_SIGNS = ("{{", "${")

# A statement of another kind changes what names mean: there only names may be templates, up to the
# query in it.
_QUERIES = frozenset(
    {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.INSERT, TokenType.FROM}
)

# Where an operand stands, and the clauses in which a constant is one.
_OPERANDS = (exp.Binary, exp.Between, exp.In, exp.Func, exp.Cast, exp.Paren, exp.Neg)
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join)
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
        pieces = _pieces(template, token, found[-1] if found else None, masked.text, refer)
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
    return Obstacle(template.start, template.end, f"{closed(template.text)} {why}")


_Piece = tuple[TokenType, str]


def _pieces(
    template: Template, token: Token, before: Token | None, text: str, refer: Refer
) -> list[_Piece] | str:
    """The types and texts of the tokens for a template, or why there are none."""
    if token.token_type is not TokenType.IDENTIFIER or token.end != template.end - 1:
        return "cannot be told from the text around"
    behind_dot = text[template.start - 1 : template.start] == "."
    dotted = behind_dot or text[template.end : template.end + 1] == "."
    named = dotted or (before is not None and before.token_type in _BEFORE_NAME)
    match template.kind:
        case Kind.REFERENCE:
            name = None if behind_dot else refer(template.reference)
            if name is None:
                return "is in no manifest, and there is no one table of that name in the catalog"
            return _dotted(name)
        case Kind.THIS | Kind.VALUE if named:
            # A relation or column that nobody knows: no two of them are the same.
            return [(TokenType.IDENTIFIER, f"{template.text}@{template.start}")]
        case Kind.VALUE:
            return [(TokenType.COLON, ":"), (TokenType.VAR, template.text)]
        case Kind.THIS | Kind.OTHER:
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


def first(templates: Sequence[Template], tokens: Sequence[Token]) -> Template | None:
    """The first template among a statement's tokens."""
    index = bisect_left(templates, tokens[0].start, key=lambda template: template.start)
    found = templates[index] if index < len(templates) else None
    return found if found is not None and found.start <= tokens[-1].end else None


def unfit(templates: Sequence[Template], tokens: Sequence[Token]) -> str | None:
    """What is wrong with templates in a statement that is not a query alone, before its query: what
    it defines would not be known."""
    if tokens[0].token_type in _QUERIES:
        return None
    view = any(token.text.lower() == "view" for token in tokens[:8])
    end = tokens[-1].end
    if tokens[0].token_type is TokenType.CREATE and not view:
        end = next((t.start for t in tokens if t.token_type is TokenType.SELECT), end)
    for template in templates:
        inside = tokens[0].start <= template.start <= end
        if inside and template.kind is not Kind.REFERENCE:
            return f"{closed(template.text)} stands in a definition"
    return None


def misplaced(tree: exp.Expr) -> str | None:
    """What is wrong with the place of a template: a constant that is not an operand of a condition
    might be more than one value, and a whole condition might hold an OR."""
    for node in tree.find_all(exp.Placeholder, exp.Anonymous):
        if not str(node.this).startswith(_SIGNS):
            continue
        shown = closed(str(node.this))
        parent = node.parent
        if isinstance(parent, _WHOLE):
            return f"{shown} may be more than a single condition or key"
        if isinstance(node, exp.Placeholder) and not isinstance(parent, exp.Limit | exp.Offset):
            if not isinstance(parent, _OPERANDS):
                return f"{shown} may be more than a single value here"
            if not isinstance(_clause(node), _CONDITIONS):
                return f"{shown} may be more than a single value here: only conditions are read"
    return None


def _clause(node: exp.Expr) -> exp.Expr | None:
    above = node.parent
    while above is not None and not isinstance(above, (*_CONDITIONS, exp.Query)):
        above = above.parent
    return above
