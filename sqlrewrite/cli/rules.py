"""``dpp-rewrite rules``: the rules, and the page of one."""

from __future__ import annotations

from collections.abc import Iterable

import click

from sqlrewrite.cli.options import CONTEXT, Command, colour_option, completing
from sqlrewrite.cli.streams import CommandFailure, printer


def _codes() -> Iterable[str]:
    from sqlrewrite.rulebook import pages

    return (it.code for it in pages())


@click.command(
    "rules",
    cls=Command,
    short_help="List the rules, or explain one.",
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  dpp-rewrite rules                 all of them
  dpp-rewrite rules DPP101          one, with its reasons and examples""",
)
@click.argument("code", required=False, shell_complete=completing(_codes))
@colour_option
def command(code: str | None, color: bool | None) -> None:
    """Lists the rules, or explains one: why, reference, example before and after.

    CODE is a rule's code or its name, as the verdicts print them.
    """
    from sqlrewrite.report.rules import print_page, print_rules
    from sqlrewrite.rulebook import pages

    rules = pages()
    out = printer(err=False, color=color)
    if code is None:
        print_rules(out, rules)
        return
    lowered = code.lower()
    page = next((it for it in rules if lowered in (it.code.lower(), it.name.lower())), None)
    if page is None:
        raise CommandFailure(_unknown(code, [it.code for it in rules], [it.name for it in rules]))
    print_page(out, page)


def _unknown(code: str, codes: list[str], names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(code.upper(), codes) or get_close_matches(code.lower(), names)
    near.sort(key=lambda it: it[:5] != code[:5].upper())  # the same family first
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"there is no rule {code!r}{hint} (`dpp-rewrite rules` lists them all)"
