"""The forms of a predicate: a row each, with all that the rooms below ``write/`` need to know.

A function in ``write/`` writes the form. ``sql/`` recognizes one in a text by its shapes,
``judge/`` estimates the size of its keys, and ``--help`` describes those that users can choose.
"""

from __future__ import annotations

from msgspec import Struct


class Form(Struct, frozen=True):
    """A form of predicate, by its name.

    ``help``: its description for ``--predicate``; without it, only the rules choose this form.
    ``comparisons``: the texts that may follow the bounded value: a sign, and a ``query`` or a
    ``list`` in parentheses, a ``call``, or one or more ``literals``. ``functions``: those called
    with the key query first and the bounded value second. Several predicates may be joined by OR,
    in parentheses. ``noted``: a note with the key query follows the marker. ``merges``: written
    only into the ON of a MERGE, where a ``constant`` is a literal, a parameter, a call, or anything
    in parentheses. ``fits``: why the number of keys does not matter; empty if their size counts.
    """

    name: str
    help: str = ""
    comparisons: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    noted: bool = False
    merges: bool = False
    fits: str = ""

    @property
    def has_query(self) -> bool:
        """Whether it contains a key query, not only constants."""
        return bool(self.functions) or any(
            comparison.endswith("query") for comparison in self.comparisons
        )


IN, SET, RANGE, VALUES, AUTO = "in", "set", "range", "values", "auto"
"""The forms that users can choose; ``auto`` is ``in``, or ``set`` if an IN would not prune."""

SINGLE, HINTED, RANKED, FILTERED, CONSTANT = "single", "hinted", "rank", "filter", "constant"
"""The forms that only the rules choose: for a single key; for one or a few keys if the engine does
not prune by ``=``; for the first values of the fact's own column; for a bound that follows from a
filter; for constants in the source of a MERGE."""

FORMS = (
    # The list of constants that the author compares the key with, instead of a key query.
    Form(IN, "a semi-join.", ("IN query", "IN list")),
    Form(
        SET,
        "an array of the keys, which prunes without dynamic pruning too.",
        functions=("array_contains",),
    ),
    Form(
        RANGE,
        "from the smallest to the largest key.",
        (">= query", "> query", "<= query", "< query"),
        fits="a smallest and a largest key take no room",
    ),
    Form(
        VALUES,
        "the keys that Spark returns now, correct until they change.",
        (
            "IN literals",
            "BETWEEN literal AND literal",
            ">= literal",
            "> literal",
            "<= literal",
            "< literal",
        ),
        noted=True,
        fits="the keys are counted when they are asked for",
    ),
    Form(
        SINGLE,
        comparisons=("= query", ">= query", "> query", "<= query", "< query"),
        fits="there is one key",
    ),
    Form(HINTED, comparisons=("IN query",), fits="there are few keys"),
    Form(RANKED, comparisons=(">= query", "<= query")),
    Form(FILTERED, comparisons=("IN list", "= call", ">= call", "> call", "<= call", "< call")),
    Form(
        CONSTANT,
        comparisons=(
            "IN constant",
            "= constant",
            ">= constant",
            "> constant",
            "<= constant",
            "< constant",
        ),
        merges=True,
    ),
    Form(AUTO, "in, or set where an IN would not prune."),
)

BY_NAME = {form.name: form for form in FORMS}

CHOICES = tuple(form.name for form in FORMS if form.help)
"""The names that ``--predicate`` takes."""

FUNCTIONS = frozenset(name for form in FORMS for name in form.functions)
"""The functions that forms are written as, in lower case."""
