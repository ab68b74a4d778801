"""One pass over a text that masks its templates.

The scan knows where code, strings, quoted names and comments begin and end, because a template
means something else in each. A template that cannot be masked is an ``Obstacle`` with a reason.
"""

from __future__ import annotations

import re

from sqlrewrite.text.edits import blank
from sqlrewrite.text.template_kinds import UNITS, TemplateKind, meaning, repeats
from sqlrewrite.text.templates import (
    DEFINES,
    NOTE,
    Masked,
    Obstacle,
    Template,
    is_name,
    on_one_line,
)

# What opens a variable, and how each is written. Of a sign that Spark's grammar has as well it is
# one only where a value or a name must stand: ``a & b`` and ``a %(b)`` are none.
_VARIABLES = {
    "${": re.compile(r"\$\{[^\s{}'\"`][^{}'\"`\r\n]*\}"),
    "$": re.compile(r"\$\w+"),
    "{": re.compile(r"\{[A-Za-z_][\w.]*\}"),
    "#": re.compile(r"#\{[A-Za-z_][\w.]*\}"),
    "@": re.compile(r"@\w+@|@[A-Za-z_]\w*"),
    "%": re.compile(r"%\(\w+\)s"),
    "&": re.compile(r"&&?[A-Za-z_]\w*"),
}
_SPARKS_OWN = frozenset("%&@")
_TO_A_VALUE = re.compile(
    r"(?:[(,=<>+*/|.-]|\b(?:and|or|not|in|between|like|rlike|regexp|select|where|on|having|then|else"
    r"|when|case|by|from|join|table|into|update|using|limit|values|div))\s*",
    re.IGNORECASE,
)
_LONGEST_WORD = 40

# What may open in SQL code, and what matters inside of what it opens until it ends.
_CODE = re.compile(
    rf"(?P<note>{NOTE.pattern})"
    r"|--|/\*|(?<!\w)[rR]['\"]|['\"]|`|\{[{%#]|\$\{|(?<![\w$])\$(?=[A-Za-z_])"
    r"|\{(?=[A-Za-z_])|#(?=\{)|@(?=\w+@|[A-Za-z_])|%(?=\(\w+\)s)|&(?=&?[A-Za-z_])",
    re.MULTILINE,
)
_INSIDE = {
    "--": re.compile(r"[\r\n]|\{[{%#]"),
    "/*": re.compile(r"\*/|\{[{%#]"),
    "'": re.compile(r"\\.|'|\{[{%#]|\$\{", re.DOTALL),
    '"': re.compile(r"\\.|\"|\{[{%#]|\$\{", re.DOTALL),
    "r'": re.compile(r"'|\{[{%#]|\$\{"),
    'r"': re.compile(r"\"|\{[{%#]|\$\{"),
    "`": re.compile(r"`|\{[{%#]|\$\{"),
}
_CLOSES = {"{{": "}}", "{%": "%}", "{#": "#}"}
_OPENS = frozenset({*_CLOSES, *_VARIABLES})

_TAG = re.compile(r"\{%[-+]?\s*(\w+)")
_RENDERED_ONCE = frozenset({"snapshot", "endsnapshot", "test", "endtest"})
"""Around one query of its own each: dbt runs what is between them."""
_SET = re.compile(r"\{%[-+]?\s*set\s[\w.,\s]+=")
_COMMENT = re.compile(r"--[^\r\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"\w")
_REST = re.compile(r"[ \t]*(?:[\r\n]|\Z)")

# What may touch an expression and not become one token with what it renders to.
_BEFORE, _BEHIND = frozenset("(,.=<>+["), frozenset("),;.=<>+]")
# Beside a constant an operator may stand as well, but for a sign before a negative one: 1--2.
_BEFORE_VALUE, _BEHIND_VALUE = _BEFORE | frozenset("*/%|&"), _BEHIND | frozenset("-*/%|&:")

_BLOCK = "{{% {} %}} changes the statement (as dbt compiles it, in target/compiled, it can be read)"


class TemplateScan:
    """The state of the pass: what is masked so far, and what is open where it stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[str] = []
        self.done = 0
        self.templates: list[Template] = []
        self.obstacles: list[Obstacle] = []
        self.open: list[tuple[str, int]] = []
        self.tags = {match.group(1) for match in _TAG.finditer(text)}
        self.endless: set[str] = set()
        self.entered = 0
        self.before = (0, 0)
        self.unknown = False
        self.head = True
        self.told = 0
        self.within = False

    def run(self) -> Masked:
        """The masked text."""
        text, at, context = self.text, 0, ""
        while True:
            match = (_INSIDE[context] if context else _CODE).search(text, at)
            if match is None:
                break
            sign = match.group()
            if sign in _OPENS:
                at = self._unit(sign, match.start(), context)
            elif not context and match["note"]:
                at = match.end()
                self._blank(match.start(), at)
            elif context:
                at = match.end()
                context = context if sign.startswith("\\") else ""
                if self.unknown and not context:
                    self._string(at)
            else:
                context, at, self.entered = sign.lower(), match.end(), match.start()
                self.before = len(self.pieces), self.done
        for tag, start in self.open:
            self._refuse(start, len(text), _BLOCK.format(tag))
        pieces = "".join([*self.pieces, text[self.done :]])
        obstacles = sorted(self.obstacles, key=lambda obstacle: obstacle.start)
        return Masked(pieces, tuple(self.templates), tuple(obstacles))

    def _unit(self, sign: str, start: int, context: str) -> int:
        """Takes in the template that begins here; where the scan goes on."""
        if sign in _VARIABLES:
            if sign in _SPARKS_OWN and not self._wants_value(start):
                return start + 1
            found = _VARIABLES[sign].match(self.text, start)
            end = found.end() if found else 0
        else:
            end = 0 if sign in self.endless else self.text.find(_CLOSES[sign], start + 2) + 2
            whole = UNITS[sign].match(self.text, start) if end >= 2 and sign in UNITS else None
            if whole is not None:
                end = whole.end()
            elif sign in UNITS and end >= 2:  # a string that does not end, or not here
                self._refuse(start, len(self.text), f"{sign} may end elsewhere")
                return len(self.text)
            if end < 2:
                self.endless.add(sign)  # and not looked for again
                end = 0
        if not end:
            if context not in ("--", "/*"):
                self._refuse(start, start + 2, f"{sign} does not open a template that can be read")
            return start + 2
        unit = self.text[start:end]
        match sign:
            case "{%":
                return self._block(start, end, unit, context) or self._tag(
                    start, end, unit, context
                )
            case "{#":
                self._nothing(start, end, unit, context)
            case _:
                self._expression(start, end, unit, context)
        return end

    def _wants_value(self, start: int) -> bool:
        """Whether what stands before an offset has a value or a name behind it."""
        before = self.text[max(0, start - _LONGEST_WORD) : start]
        return any(match.end() == len(before) for match in _TO_A_VALUE.finditer(before))

    def _block(self, start: int, end: int, unit: str, context: str) -> int | None:
        """Takes in a whole block that is an expression, or renders to nothing; where it ends."""
        match = _TAG.match(unit)
        name = match.group(1) if match else ""
        if context or self.open or (name == "set" and _SET.match(unit)):
            return None
        if name == "for":
            return self._loop(start)
        if name != "set" and (name not in DEFINES or self._within(start)):
            return None
        from sqlrewrite.text.for_blocks import block_end  # few texts need it

        stop = block_end(self.text, start)
        if stop is None:
            return None
        if name != "set":  # a statement of its own, so that a join in it is told
            word = start + unit.index(name)
            arguments = blank(self.text[word + len(name) : stop - 2])
            self._put(start, stop, f"{' ' * (word - start)}{name}{arguments}_;")
        elif self._within(start):
            return None
        else:
            self._nothing(start, stop, self.text[start:stop], context)
        return stop

    def _loop(self, start: int) -> int | None:
        """Takes in a loop over items of a list; where it ends, None where it is none."""
        from sqlrewrite.text.for_blocks import loop  # few texts need it

        found = loop(self.text, start)
        if found is None or _touches(self.text[found.end : found.end + 1], _BEHIND):
            return None
        if not found.leads and _touches(self.text[start - 1 : start], _BEFORE):
            return None
        since, until = start + found.leads, found.end - found.trails
        whole = self.text[start : found.end]
        self.templates.append(Template(since, until, whole, TemplateKind.OTHER))
        filling = blank(self.text[since + 1 : until - 1], "_")
        self._put(start, found.end, f"{',' * found.leads}`{filling}`{',' * found.trails}")
        return found.end

    def _tag(self, start: int, end: int, unit: str, context: str) -> int:
        """A block's tag: from the first of a block to its last is one obstacle."""
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
            if self._within(start):
                self._refuse(start, end, f"{on_one_line(unit)} may change what is behind it")
            self._nothing(start, end, unit, context)
            return end
        elif f"end{name}" in self.tags:
            self.open.append((name, start))
        elif not self.open:
            self._refuse(start, end, f"{on_one_line(unit)} may change the statement")
        self._blank(start, end)
        return end

    def _within(self, start: int) -> bool:
        """Whether a statement has begun before a place: a value set there may be two in it."""
        masked = "".join((*self.pieces[self.told :], self.text[self.done : start]))
        code = _COMMENT.sub("", masked).rstrip()
        self.told = len(self.pieces)
        if code:
            self.within = not code.endswith(";")
        return self.within

    def _nothing(self, start: int, end: int, unit: str, context: str) -> None:
        """What renders to nothing is white space, but for what it leaves or takes around it."""
        if context in ("--", "/*") and not _breaks(unit):
            return
        before, behind = self.text[start - 1 : start], self.text[end : end + 1]
        head = self.head and not self.text[self.done : start].strip()
        if context:
            self._refuse(start, end, f"{on_one_line(unit)} stands inside a string, name or comment")
        elif _trims(unit) and not head:
            self._refuse(start, end, f"{on_one_line(unit)} removes the white space around it")
        elif before.strip() and behind.strip():
            self._refuse(start, end, f"{on_one_line(unit)} joins what stands around it")
        self._blank(start, end)

    def _expression(self, start: int, end: int, unit: str, context: str) -> None:
        shown = on_one_line(unit)
        kind, reference = meaning(unit)
        if kind is TemplateKind.VALUE and is_name(unit) and self._spoken_of(unit):
            kind = TemplateKind.OTHER
        if context in ("--", "/*"):
            hint = self.text.startswith("/*+", self.entered)
            macro = kind is TemplateKind.OTHER and "(" in unit  # may render to several lines
            several = context == "--" and (macro or _breaks(unit))
            if hint or several:
                self._refuse(start, end, f"{shown} stands inside a comment or hint")
            if several or "*/" in unit:
                self._blank(start, end)
        elif context:
            # What it renders to is a part of the string or name, and ends it nowhere.
            quote = context[-1]
            named = kind is TemplateKind.VALUE or is_name(unit)
            known = (named and quote not in unit) or repeats(unit, quote)
            if "\\" in unit or (quote == "`" and (not named or quote in unit)):
                self._refuse(start, end, f"{shown} stands inside of a string or name")
                self._blank(start, end)
            elif quote in unit or not known:
                self._put(start, end, unit.replace(quote, "_"))
                self.unknown |= not known
        elif kind is TemplateKind.NOTHING and (self._alone(start, end) or not self._within(start)):
            self._nothing(start, end, unit, context)
        else:
            before, behind = self.text[start - 1 : start], self.text[end : end + 1]
            called = behind == "(" and unit.startswith("@")  # a macro of SQLMesh
            kind = TemplateKind.OTHER if called else kind
            value = kind is TemplateKind.VALUE
            sides = (_BEFORE_VALUE, _BEHIND_VALUE) if value else (_BEFORE, _BEHIND)
            part = _WORD.match(before) or _WORD.match(behind) or self._beside_another(start, end)
            if _trims(unit):
                self._refuse(start, end, f"{shown} removes the white space around it")
            elif part and (value or is_name(unit)) and not _breaks(unit):
                self.templates.append(Template(start, end, unit, TemplateKind.PART))
                self._put(start, end, "_" * len(unit))
                return
            elif _touches(before, sides[0]) or (_touches(behind, sides[1]) and not called):
                self._refuse(start, end, f"{shown} is a part of a word")
            else:
                self.templates.append(Template(start, end, unit, kind, reference))
            filling = blank(unit[1:-1], "_")
            plain = not unit.startswith("{{")  # $x: too short, perhaps, for quotes
            self._put(start, end, "_" * len(unit) if plain else f"`{filling}`")

    def _spoken_of(self, unit: str) -> bool:
        """Whether a tag speaks of a plain name, which then is what that makes of it."""
        name = unit[2:-2].strip(" \t\r\n+-")
        return re.search(rf"\{{%[^%]*\b{re.escape(name)}\b", self.text) is not None

    def _string(self, end: int) -> None:
        """Takes in a string that ends here, of which not even that it repeats is known."""
        start, self.unknown = self.entered, False
        del self.pieces[self.before[0] :]
        self.done = self.before[1]
        whole = self.text[start:end]
        self.templates.append(Template(start, end, whole, TemplateKind.OTHER))
        self._put(start, end, f"`{blank(whole[1:-1], '_')}`")

    def _beside_another(self, start: int, end: int) -> bool:
        """Whether another expression touches this one."""
        follows = bool(self.templates) and self.templates[-1].end == start
        return follows or self.text.startswith(("${", "{{"), end)

    def _alone(self, start: int, end: int) -> bool:
        """Whether nothing else stands on the lines of a stretch."""
        line = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
        return _REST.match(self.text, end) is not None and not self.text[line:start].strip()

    def _refuse(self, start: int, end: int, why: str) -> None:
        self.obstacles.append(Obstacle(start, end, why))

    def _blank(self, start: int, end: int) -> None:
        self._put(start, end, blank(self.text[start:end]))

    def _put(self, start: int, end: int, masked: str) -> None:
        before = self.text[self.done : start]
        self.head = self.head and not before.strip() and not masked.strip()
        self.pieces += (before, masked)
        self.done = end


def _breaks(unit: str) -> bool:
    return "\n" in unit or "\r" in unit


def _trims(unit: str) -> bool:
    return unit.startswith("{") and (unit[2] == "-" or unit[-3] == "-")


def _touches(beside: str, allowed: frozenset[str]) -> bool:
    return bool(beside.strip()) and beside not in allowed
