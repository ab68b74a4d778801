"""The options of a command that draws its texts by their numbers."""

from __future__ import annotations

import argparse


def options(name: str, page: str | None, count: int) -> argparse.ArgumentParser:
    """Which texts: those of a seed, from a number on, so many of them; ``page`` is its help."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.referee.{name}", description=page)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=count)
    return parser
