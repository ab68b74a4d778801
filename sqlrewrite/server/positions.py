"""Places as an editor counts them: lines from 0, and columns in the units that it has chosen.

Offsets here count code points. An editor's columns are units of UTF-16 unless it has agreed to
another encoding (Language Server Protocol 3.17, "Text Documents").
"""

from __future__ import annotations

from lsprotocol import types
from pygls.workspace import PositionCodec

from sqlrewrite.text.edits import Span
from sqlrewrite.text.source import LINE_END, Lines


class Positions:
    """A text's offsets as places of an editor, and the other way round."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._text = text
        self._lines = Lines(text)
        self._codec = codec

    def position(self, offset: int) -> types.Position:
        """The place of an offset."""
        line, column = self._lines.place(offset)
        before = self._text[offset - column + 1 : offset]
        return types.Position(line - 1, self._codec.client_num_units(before))

    def range(self, span: Span) -> types.Range:
        """The places of a stretch."""
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: types.Position) -> int:
        """The offset of a place; beyond the end of a line, that end."""
        try:
            start = self._lines.offset(position.line + 1)
        except IndexError:
            return len(self._text)
        found = LINE_END.search(self._text, start)
        line = self._text[start : found.start() if found else len(self._text)]
        # pygls takes a place behind the line for one before its last character.
        inside = min(position.character, self._codec.client_num_units(line))
        here = types.Position(0, inside)
        return start + self._codec.position_from_client_units([line], here).character
