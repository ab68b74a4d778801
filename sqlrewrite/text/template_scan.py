"""Masks the templates of a text in one pass.

A template is masked differently in code, in a string, in a quoted name and in a comment, so the
scan keeps track of where these begin and end. A template that cannot be masked is an ``Obstacle``
with a reason.
"""

from __future__ import annotations

import re
from functools import cached_property

from sqlrewrite.text.edits import blank
from sqlrewrite.text.template_kinds import (
    CALL,
    UNITS,
    TemplateKind,
    inner,
    meaning,
    renders_to_one_line,
    repeats,
    words,
)
from sqlrewrite.text.template_syntax import (
    CLOSES,
    CODE,
    INSIDE,
    LONGEST_WORD,
    OPENS,
    SPARKS_OWN,
    TO_A_VALUE,
    VARIABLES,
    drawn_into_comment,
    ends_elsewhere,
    goes_on,
)
from sqlrewrite.text.templates import (
    DEFINES,
    Masked,
    Obstacle,
    Template,
    is_name,
    on_one_line,
)

_TAG = re.compile(r"\{%[-+]?\s*(\w+)")
_COMMENTS = ("--", "/*")
_MAY_BE_TEXT = frozenset("$&")
"""Signs that are common in comments: ``$x`` there is a variable only if the code has one too."""
_OPERAND = re.compile(r"(?:[=<>]|\bbetween)\s*\Z", re.IGNORECASE)
_RENDERED_ONCE = frozenset({"snapshot", "endsnapshot", "test", "endtest"})
"""Tags around a query that dbt runs by itself."""
_TRIMS_BEFORE = ("{{-", "{%-", "{#-")
_SET = re.compile(r"\{%[-+]?\s*set\s[\w.,\s]+=")
_COMMENT = re.compile(r"--[^\r\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"\w")
_WHITE = re.compile(r"\s*")
_REST = re.compile(r"[ \t]*(?:[\r\n]|\Z)")

# Characters that may be right beside a template: no value merges with them to one token.
_BEFORE, _BEHIND = frozenset("(,.=<>+["), frozenset("),;.=<>+]")
# Beside a constant also operators, but no ``-`` before it: a negative number would give ``1--2``.
_BEFORE_VALUE, _BEHIND_VALUE = _BEFORE | frozenset("*/%|&"), _BEHIND | frozenset("-*/%|&:")

_BLOCK = "`{{% {} %}}` changes the statement: rewrite what dbt compiles from it, in target/compiled"
_TRIMMED = "removes the white space around it, which may join two words: write it without `-`"


class TemplateScan:
    """The state of the pass: the text masked so far, and the quotes and comments that are open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[str] = []
        self.masked_until = 0
        self.templates: list[Template] = []
        self.obstacles: list[Obstacle] = []
        self.open: list[tuple[str, int]] = []
        self.tags = {match.group(1) for match in _TAG.finditer(text)}
        self.endless: set[str] = set()
        self.entered = 0
        self.before = (0, 0)
        self.unknown = False
        self.head = True
        self.checked = 0
        self.checked_until = 0
        self.in_statement = False
        self.line_comment = -1
        self.signs: set[str] = set()
        self.one_line: set[str] = set()
        self.strings: list[str] = []
        self.unsure: list[Obstacle] = []

    def run(self) -> Masked:
        """The masked text."""
        text, at, context = self.text, 0, ""
        while True:
            match = (INSIDE[context] if context else CODE).search(text, at)
            if match is None:
                break
            sign = match.group()
            if sign in OPENS:
                at = self._unit(sign, match.start(), context)
            elif not context and match["note"]:
                at = match.end()
                self._blank(match.start(), at)
            elif context:
                at = match.end()
                self.line_comment = match.start() if context == "--" else self.line_comment
                if not sign.startswith("\\"):
                    if context not in _COMMENTS:
                        self.strings.append(text[self.entered : at])
                    context = ""
                if self.unknown and not context:
                    self._string(at)
            else:
                context, at, self.entered = sign.lower(), match.end(), match.start()
                self.before = len(self.pieces), self.masked_until
        for tag, start in self.open:
            self._refuse(start, len(text), _BLOCK.format(tag))
        for value in self.unsure:
            if self._is_unsure(text[value.start : value.end]):
                self.obstacles.append(value)
        pieces = "".join([*self.pieces, text[self.masked_until :]])
        obstacles = sorted(self.obstacles, key=lambda obstacle: obstacle.start)
        return Masked(pieces, tuple(self.templates), tuple(obstacles))

    def _unit(self, sign: str, start: int, context: str) -> int:
        """Masks the template that begins at an offset; returns where to go on."""
        if sign in VARIABLES:
            if sign in SPARKS_OWN and context not in _COMMENTS and not self._wants_value(start):
                return start + 1
            variable = VARIABLES[sign].match(self.text, start)
            end = variable.end() if variable else 0
        else:
            end = 0 if sign in self.endless else self.text.find(CLOSES[sign], start + 2) + 2
            whole = UNITS[sign].match(self.text, start) if end >= 2 and sign in UNITS else None
            if whole is not None:
                end = whole.end()
            elif sign in UNITS and end >= 2:
                # A quote in it ends no string before the braces are closed.
                self._refuse(start, len(self.text), f"a quote behind `{sign}` is not closed")
                return len(self.text)
            if end < 2:
                self.endless.add(sign)  # no later one is closed either
                end = 0
        if not end:
            if context not in _COMMENTS:
                why = f"`{sign}` opens a template that is not closed, or of no known kind"
                self._refuse(start, start + 2, why)
            return start + 2
        unit = self.text[start:end]
        match sign:
            case "{%":
                block = self._block(start, end, unit, context)
                end = block or self._tag(start, end, unit, context)
            case "{#":
                self._nothing(start, end, unit, context)
            case _:
                self._expression(start, end, unit, context)
        self._draws(start, end, context)
        return end

    def _shortly_before(self, start: int) -> str:
        return self.text[max(0, start - LONGEST_WORD) : start]

    def _draws(self, start: int, end: int, context: str) -> bool:
        """Whether a template is refused because its trimming may append the code after it to a line
        comment."""
        unit, inside = self.text[start:end], context == "--"
        beside = not context and unit.startswith(_TRIMS_BEFORE) and self._behind_comment(start)
        if not inside and not beside:
            return False
        until = drawn_into_comment(self.text, unit, end, inside=inside)
        if until > end:
            why = "may remove the line end behind a comment, which would then go on"
            self._refuse(start, until, f"{_shown(unit)} {why}")
        return until > end

    def _behind_comment(self, start: int) -> bool:
        """Whether only white space is between the last line comment and an offset."""
        white = _WHITE.match(self.text, self.line_comment) if self.line_comment >= 0 else None
        return white is not None and white.end() >= start

    def _wants_value(self, start: int) -> bool:
        """Whether a value or a name is required at an offset."""
        before = self._shortly_before(start)
        return any(match.end() == len(before) for match in TO_A_VALUE.finditer(before))

    def _block(self, start: int, end: int, unit: str, context: str) -> int | None:
        """Masks a block that is one expression or renders to nothing; returns its end. None for
        other blocks."""
        match = _TAG.match(unit)
        name = match.group(1) if match else ""
        if context or self.open or (name == "set" and _SET.match(unit)):
            return None
        if name == "for":
            return None if self._draws(start, end, context) else self._loop(start)
        if name != "set" and (name not in DEFINES or self._within(start)):
            return None
        from sqlrewrite.text.blocks import block_end  # few texts need it

        stop = block_end(self.text, start)
        if stop is None:
            return None
        if name != "set":  # masked as a statement of its own, so that a join in it is reported
            word = start + unit.index(name)
            arguments = blank(self.text[word + len(name) : stop - 2])
            self._put(start, stop, f"{' ' * (word - start)}{name}{arguments}_;")
        elif self._within(start):
            return None
        else:
            self._nothing(start, stop, self.text[start:stop], context)
        return stop

    def _loop(self, start: int) -> int | None:
        """Masks a loop that renders to items of a list; returns its end. None for other loops."""
        from sqlrewrite.text.blocks import loop  # few texts need it

        items = loop(self.text, start)
        if items is None or _touches(self.text[items.end : items.end + 1], _BEHIND):
            return None
        if not items.leads and _touches(self.text[start - 1 : start], _BEFORE):
            return None
        since, until = start + items.leads, items.end - items.trails
        whole = self.text[start : items.end]
        self.templates.append(Template(since, until, whole, TemplateKind.OTHER))
        filling = blank(self.text[since + 1 : until - 1], "_")
        self._put(start, items.end, f"{',' * items.leads}`{filling}`{',' * items.trails}")
        return items.end

    def _tag(self, start: int, end: int, unit: str, context: str) -> int:
        """Masks a tag; returns where to go on. A block is one obstacle, from its first tag to its
        last."""
        match = _TAG.match(unit)
        name = match.group(1) if match else ""
        if name in _RENDERED_ONCE and not context:
            ends = ";" if name.startswith("end") else " "
            self._put(start, end, ends + blank(unit[1:]))
            return end
        if name.startswith("end"):
            since = start
            while self.open:
                tag, since = self.open.pop()
                if tag == name[3:]:
                    break
            self._refuse(since, end, _BLOCK.format(name[3:]))
        elif name == "do" or _SET.match(unit):
            if self._within(start, context):
                self._refuse(start, end, f"{_shown(unit)} may change what follows it")
            self._nothing(start, end, unit, context)
            return end
        elif f"end{name}" in self.tags:
            self.open.append((name, start))
        elif not self.open:
            self._refuse(start, end, f"{_shown(unit)} is a tag that may change the statement")
        self._blank(start, end, context)
        return end

    def _within(self, start: int, context: str = "") -> bool:
        """Whether a place, or the comment around it, is inside a statement: a variable that is set
        there may have two values in that statement."""
        pieces, end = len(self.pieces), self.masked_until
        if context in _COMMENTS:
            (pieces, end), start = self.before, self.entered
        since = max(end, self.checked_until)
        masked = "".join((*self.pieces[self.checked : pieces], self.text[since:start]))
        code = _COMMENT.sub("", masked).rstrip()
        self.checked, self.checked_until = pieces, start
        if code:
            self.in_statement = not code.endswith(";")
        return self.in_statement

    def _nothing(self, start: int, end: int, unit: str, context: str) -> None:
        """Masks a template that renders to nothing; refuses one that may change the text around
        it."""
        if context in _COMMENTS:
            self._in_comment(start, end, unit, context, TemplateKind.NOTHING)
            return
        before, behind = self.text[start - 1 : start], self.text[end : end + 1]
        head = self.head and not self.text[self.masked_until : start].strip()
        if context:
            self._refuse(start, end, f"{_shown(unit)} stands inside a string or quoted name")
        elif _trims(unit) and not head:
            self._refuse(start, end, f"{_shown(unit)} {_TRIMMED}")
        elif before.strip() and (behind.strip() or self._joins(unit, end, before)):
            why = "joins what stands on its two sides into one word: put a space beside it"
            self._refuse(start, end, f"{_shown(unit)} {why}")
        self._blank(start, end)

    def _joins(self, unit: str, end: int, before: str) -> bool:
        """Whether two words would merge if ``trim_blocks`` removed the line end between them."""
        since = goes_on(self.text, unit, end)
        after = self.text[since : since + 1]
        return before not in _BEFORE and _touches(after, _BEHIND)

    def _in_comment(
        self, start: int, end: int, unit: str, context: str, kind: TemplateKind
    ) -> None:
        """Masks a template in a comment; refuses one that may change where the comment ends."""
        shown, renders = _shown(unit), kind is not TemplateKind.NOTHING
        several = context == "--" and _breaks(unit)
        if several or (renders and self.text.startswith("/*+", self.entered)):
            self._refuse(start, end, f"{shown} is part of a hint, or may end the comment around it")
        elif not renders and ends_elsewhere(self.text, unit, start, end):
            self._refuse(start, end, f"{shown} may move the end of the comment around it")
        elif renders and not renders_to_one_line(unit, self.tag_words):
            macro = context == "--" and kind is TemplateKind.OTHER and "(" in unit
            if macro or self._within(start, context):
                why = f"{shown} may end the comment around it: it may render to several lines"
                self.unsure.append(Obstacle(start, end, why))
        if several or "*/" in unit or "/*" in unit:
            self._blank(start, end, context)

    def _is_unsure(self, unit: str) -> bool:
        """Whether a template in a comment may render to several lines. It does not if it also
        occurs in a string or name, or is compared."""
        sign = _sign(unit)
        one_line = unit in self.one_line or unit in self._in_strings
        return not one_line and (sign not in _MAY_BE_TEXT or sign in self.signs)

    @cached_property
    def _in_strings(self) -> frozenset[str]:
        """The parts of the text's strings that look like variables."""
        whole = "\n".join(self.strings)
        return frozenset(
            match.group() for each in VARIABLES.values() for match in each.finditer(whole)
        )

    def _expression(self, start: int, end: int, unit: str, context: str) -> None:
        shown = _shown(unit)
        kind, reference = meaning(unit)
        if kind is TemplateKind.VALUE and self._may_be_set(unit):
            kind = TemplateKind.OTHER
        if context in _COMMENTS:
            self._in_comment(start, end, unit, context, kind)
        elif context:
            # Its value is assumed to have no quote that would end the string or name around it.
            quote = context[-1]
            named = kind is TemplateKind.VALUE or is_name(unit)
            steady = (named and quote not in unit) or repeats(unit, quote)
            if steady:
                self.one_line.add(unit)
            if "\\" in unit or (quote == "`" and (not named or quote in unit)):
                self._refuse(start, end, f"{shown} may end the string or name around it")
                self._blank(start, end)
            elif quote in unit or not steady:
                self._put(start, end, unit.replace(quote, "_"))
                self.unknown |= not steady
        elif kind is TemplateKind.NOTHING and (self._alone(start, end) or not self._within(start)):
            self._nothing(start, end, unit, context)
        else:
            before, behind = self.text[start - 1 : start], self.text[end : end + 1]
            self.signs.add(_sign(unit))
            if kind is TemplateKind.VALUE and _OPERAND.search(self._shortly_before(start)):
                self.one_line.add(unit)
            called = behind == "(" and unit.startswith("@")  # a macro of SQLMesh
            kind = TemplateKind.OTHER if called else kind
            value = kind is TemplateKind.VALUE
            sides = (_BEFORE_VALUE, _BEHIND_VALUE) if value else (_BEFORE, _BEHIND)
            part = _WORD.match(before) or _WORD.match(behind) or self._beside_another(start, end)
            if _trims(unit) and not self._stands_apart(start, end, unit):
                self._refuse(start, end, f"{shown} {_TRIMMED}")
            elif part and (value or is_name(unit)) and not _breaks(unit):
                self.one_line.add(unit)
                self.templates.append(Template(start, end, unit, TemplateKind.PART))
                self._put(start, end, "_" * len(unit))
                return
            elif _touches(before, sides[0]) or (_touches(behind, sides[1]) and not called):
                self._refuse(start, end, f"{shown} is only part of a word that is not known")
            else:
                self.templates.append(Template(start, end, unit, kind, reference))
            filling = blank(unit[1:-1], "_")
            plain = not unit.startswith("{{")  # $x has no room for two quotes and a name
            self._put(start, end, "_" * len(unit) if plain else f"`{filling}`")

    def _stands_apart(self, start: int, end: int, unit: str) -> bool:
        """Whether a template remains a token of its own after it has trimmed the white space around
        it."""
        before, behind = self.text[start - 1 : start], self.text[end : end + 1]
        if unit[2] == "-":
            code = self.text[self.masked_until : start].rstrip()
            before = code[-1:] or ("," if self.head else "x")
        if unit[-3] == "-":
            behind = self.text[end:].lstrip()[:1]
        return before in _BEFORE and not _touches(behind, _BEHIND)

    def _may_be_set(self, unit: str) -> bool:
        """Whether a tag of the text may set a name in a template; never for calls of dbt."""
        return CALL.match(inner(unit)) is None and not self.tag_words.isdisjoint(words(unit))

    @cached_property
    def tag_words(self) -> frozenset[str]:
        """The words in the text's tags, which may set names."""
        tags = re.findall(r"\{%[^%]*", self.text)
        return frozenset(word for tag in tags for word in re.findall(r"\w+", tag))

    def _string(self, end: int) -> None:
        """Masks a whole string, whose value may differ from place to place."""
        start, self.unknown = self.entered, False
        del self.pieces[self.before[0] :]
        self.masked_until = self.before[1]
        whole = self.text[start:end]
        self.templates.append(Template(start, end, whole, TemplateKind.OTHER))
        self._put(start, end, f"`{blank(whole[1:-1], '_')}`")

    def _beside_another(self, start: int, end: int) -> bool:
        """Whether another expression touches this one."""
        follows = bool(self.templates) and self.templates[-1].end == start
        return follows or self.text.startswith(("${", "{{"), end)

    def _alone(self, start: int, end: int) -> bool:
        """Whether a span has its lines to itself."""
        line = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
        return _REST.match(self.text, end) is not None and not self.text[line:start].strip()

    def _refuse(self, start: int, end: int, why: str) -> None:
        self.obstacles.append(Obstacle(start, end, why))

    def _blank(self, start: int, end: int, context: str = "") -> None:
        """Masks a template by blanks. One of several lines in a line comment is taken to render to
        one line, so the comment goes on after it."""
        unit = self.text[start:end]
        continues = context == "--" and _breaks(unit)
        self._put(start, end, f"{blank(unit[:-2])}--" if continues else blank(unit))

    def _put(self, start: int, end: int, masked: str) -> None:
        before = self.text[self.masked_until : start]
        self.head = self.head and not before.strip() and not masked.strip()
        self.pieces += (before, masked)
        self.masked_until = end


def _shown(unit: str) -> str:
    """A template in backquotes, as a message names it."""
    return f"`{on_one_line(unit)}`"


def _breaks(unit: str) -> bool:
    return "\n" in unit or "\r" in unit


def _trims(unit: str) -> bool:
    return unit.startswith("{") and (unit[2] == "-" or unit[-3] == "-")


def _touches(beside: str, allowed: frozenset[str]) -> bool:
    return bool(beside.strip()) and beside not in allowed


def _sign(unit: str) -> str:
    """The opening sign of a variable."""
    return "${" if unit.startswith("${") else unit[0]
