"""The forms of a predicate: a row each, with all that the rooms below ``write/`` know about it.

How a form is written is its function in ``write/``. ``sql/`` finds one again in a text by its
shapes, ``judge/`` sizes its keys, and ``--help`` describes those that may be asked for.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """A form of predicate, by its name.

    ``help`` describes it for ``--predicate``; without it, only the rules choose this form.

    ``comparisons`` are the texts that it is written as behind the value that it bounds: a sign, and
    what is compared with. That is a ``query`` or a ``list`` of anything, both in parentheses, a
    ``call``, or one or more ``literals``. ``functions`` are those of which the key query is the
    first argument and the value the second. Several predicates may stand under an OR, in
    parentheses. ``noted``: behind the marker stands a note with the key query. ``merges``: it is
    written into the ON of a MERGE alone, where a ``constant`` is a literal, a parameter, a call, or
    anything in parentheses.

    ``fits`` says why its keys need no room, however many there are; without it they all count.
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
        """Whether it holds a key query, and no constants alone."""
        return bool(self.functions) or any(
            comparison.endswith("query") for comparison in self.comparisons
        )


IN, SET, RANGE, VALUES, AUTO = "in", "set", "range", "values", "auto"
"""The forms that may be asked for; ``auto`` is ``in``, or ``set`` where an IN would not prune."""

SINGLE, HINTED, RANKED, FILTERED, CONSTANT = "single", "hinted", "rank", "filter", "constant"
"""The forms that only the rules choose: for a single key; for one or a few where the engine prunes
by no ``=``; for the first values of the fact's own column; for what follows from a filter; for
constants in the source of a MERGE."""

FORMS = (
    # A list: the constants that the author compares the key with, in place of its query.
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
