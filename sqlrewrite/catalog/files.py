"""A catalog file's text, and how an error names a place in it."""

from __future__ import annotations

from pathlib import Path

from sqlrewrite.warehouse import CatalogError


def read_text(path: Path) -> str:
    """A file's text, without a byte-order mark. Raises CatalogError."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 at byte {error.start}: save the file as UTF-8"
        raise CatalogError(message) from error


def place(text: str, offset: int, source: str) -> str:
    """``source:line:column`` of an offset."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return f"{source}:{line}:{column}"
