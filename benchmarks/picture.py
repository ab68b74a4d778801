"""``python -m benchmarks.picture``: the picture of the terminal in the README, of a real run."""

from __future__ import annotations

import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
COMMAND = ("-c", "fixtures/retail/ddl.sql", "fixtures/retail/queries/11_ledger.sql")


def main() -> None:
    """Runs the program in colour and draws what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "sqlrewrite", "--color", *COMMAND],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    console = Console(record=True, width=118, file=StringIO())
    console.print(f"$ dpp-rewrite {' '.join(COMMAND)}", style="bold", highlight=False)
    console.print(Text.from_ansi(done.stdout))
    drawn = console.export_svg(title="dpp-rewrite")
    drawn = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)  # they come by network
    PICTURE.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
