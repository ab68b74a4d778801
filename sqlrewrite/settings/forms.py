"""The forms of a predicate, by name: those that ``--predicate`` takes, and those that the rules
choose in their place.

How each is written is its module of ``write/forms/``; which one a predicate takes and how many
bytes its keys have is ``judge/form.py``; how each is found again in a text is ``sql/marked.py``.
"""

from __future__ import annotations

IN, SET, RANGE, VALUES, AUTO = FORMS = ("in", "set", "range", "values", "auto")
"""What may be asked for. ``in`` is a semi-join; ``set`` collects the keys into an array, which
prunes without the engine's dynamic pruning; ``range`` is their smallest and largest; ``values`` are
the keys themselves, as they are now; ``auto`` is ``in``, and ``set`` where the engine would not
prune by an IN."""

SINGLE = "single"
"""The form for a key that is alone, in place of any that hold several."""

RANKED = "rank"
"""The form of what follows from a rank, of the first values of the fact's own column."""

FILTERED = "filter"
"""The form of what follows from a filter, with no keys at all."""
