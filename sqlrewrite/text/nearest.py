"""The known name that is most similar to a given one, for "did you mean …?"."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, names: Iterable[str], likeness: float = 0.6) -> str | None:
    """The name most like a word, None where none is; ``likeness`` is as in ``difflib``."""
    from difflib import get_close_matches  # only where something is misspelt, and not at each start

    return next(iter(get_close_matches(word, list(names), 1, likeness)), None)
