"""One row of the table of settings: a setting, its description, and its spellings."""

from __future__ import annotations

from dataclasses import field
from typing import Any, NamedTuple

from sqlrewrite.settings.kinds import Kind

PREFIX = "DPP_REWRITE_"
"""What the variables of the environment begin with."""


class Row(NamedTuple):
    """One setting.

    ``section`` is the part of ``--help`` that it stands in, ``commands`` are those that have it as
    an option; ``short`` and ``off`` are the other spellings of that option, ``said`` is what it is
    by default where the default itself does not say so. ``adds``: what an option says is added to
    what the project says, and does not replace it. ``hides`` is the other setting of the project
    that the option puts out of force. ``decides``: what is written into a text depends on it.
    """

    name: str
    default: Any
    kind: Kind
    help: str
    section: str = ""
    commands: tuple[str, ...] = ()
    short: str = ""
    off: str = ""
    metavar: str | None = None
    said: str = ""
    adds: bool = False
    hides: str = ""
    decides: bool = False
    since: str = "0.1.0"

    @property
    def key(self) -> str:
        """Its key in a TOML file."""
        return self.name.replace("_", "-")

    @property
    def option(self) -> str:
        """Its option, where there is one."""
        return f"--{self.key}"

    @property
    def variable(self) -> str:
        """Its variable of the environment."""
        return PREFIX + self.name.upper()

    @property
    def usual(self) -> str:
        """What it is by default, as a person is told; nothing where it is just not given."""
        if self.said or self.default in (None, False, (), {}):
            return self.said
        return self.key if self.default is True else str(self.default)


def setting(default: Any, kind: Kind, help: str, **more: Any) -> Any:
    """A field of ``Settings``, which carries its row."""
    said = {"kind": kind, "help": help, **more}
    if default == {}:
        return field(default_factory=dict, metadata=said)
    return field(default=default, metadata=said)
