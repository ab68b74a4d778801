"""What each function and operator of Spark does, read from ``rules/functions/spark.toml``.

In: a name as a query calls it, lower case. Out: its ``Function``, or None: then nothing is known
of it, not even whether it is an aggregate, and it must not be copied, moved or reasoned about.
The file is read at the first question, and of its 600 rows only the ones that are asked for.
"""

from __future__ import annotations

from functools import cache

from sqlrewrite.frozen import dataclass
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.text.toml import read_toml

KINDS = ("operator", "scalar", "aggregate", "window", "generator", "table", "syntax")
AGAIN = ("same", "zone", "query", "exact", "order", "varies")
RAISES = ("never", "ansi", "always")
DECLARED = ("deterministic", "total")
"""What can be said of a user's function: that it gives one value for one input, wherever and how
often it is computed; and that it never raises an error besides. Neither is an aggregate."""

_BUILTIN = ("system.builtin.", "builtin.")


@dataclass(frozen=True, slots=True)
class Function:
    """A row of the table, whose head says what ``again``, ``nulls`` and ``raises`` can be.

    ``unless`` names the check on literal arguments with which it cannot raise an error, if there is
    one. ``signature`` is what the table has: its arguments, and its result.
    """

    name: str
    kind: str
    again: str
    nulls: str
    raises: str
    unless: str
    since: str
    signature: str

    @property
    def deterministic(self) -> bool:
        """Whether it gives one value for one input, wherever and how often that is computed."""
        return self.again != "varies"

    @property
    def repeatable(self) -> bool:
        """Whether a second reading of the same rows gives the same, whatever their types are;
        where ``again`` is ``exact``, it does for integers and decimals."""
        return self.again in ("same", "zone", "query")

    @property
    def total(self) -> bool:
        """Whether no values of the types it takes make it raise an error, in ANSI mode either."""
        return self.raises == "never"

    @property
    def aggregate(self) -> bool:
        """Whether it makes one row of many, where it does not stand under OVER."""
        return self.kind == "aggregate"

    @property
    def generator(self) -> bool:
        """Whether it makes several rows or columns of one."""
        return self.kind == "generator"

    def null_from(self, position: int) -> bool:
        """Whether a NULL as the argument there, counted from 0, makes the result NULL."""
        return self.nulls == "all" or str(position + 1) in self.nulls.split(",")


@cache
def function(name: str) -> Function | None:
    """The row of a function or operator, by its lower-case name as it is called.

    A name behind ``builtin.`` is Spark's, behind any other qualifier the user's own: None.
    """
    for qualifier in _BUILTIN:
        name = name.removeprefix(qualifier)
    row = _rows().get(name.replace(" ", "_"))
    return None if row is None else _function(*row)


def declared(name: str, said: str) -> Function:
    """A user's function of which that is said; see ``DECLARED``."""
    raises = "never" if said == "total" else "always"
    return Function(name, "scalar", "same", "-", raises, "", "", "any* -> any")


def names() -> tuple[str, ...]:
    """The names of all rows."""
    return tuple(_rows())


def _function(kind: str, row: str) -> Function:
    name, again, nulls, raises, since, signature = row.split(None, 5)
    raises, _, unless = raises.partition("/")
    return Function(name, kind, again, nulls, raises, unless, since, signature)


@cache
def _rows() -> dict[str, tuple[str, str]]:
    """The kind and the text of each row, by its name."""
    sections = read_toml(rules_folder() / "functions" / "spark.toml")
    return {
        row[: row.index(" ")]: (kind, row) for kind in KINDS for row in sections[kind].splitlines()
    }
