"""How many findings of lint are true? ``python -m benchmarks.precision FOLDER --sample 60``.

Draws findings of a repository by a seed and prints each with its lines, for a person to judge.
Judgements are lines of JSON (``repository``, ``file``, ``line``, ``code``, ``true``, ``why``) in
``benchmarks/judgements/NAME.jsonl``: a person writes them there, what is drawn and not judged yet
is printed again, and the share of those judged is told. No text of the repository is kept.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

JUDGEMENTS = Path(__file__).parent / "judgements"
_AROUND = 6

Judged = dict[tuple[str, int, str], dict[str, Any]]


def main(args: Sequence[str] | None = None) -> int:
    """Draws and prints what is not judged, and then the share that is true."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--name", help="the repository's name, by default the folder's")
    parser.add_argument("--judgements", type=Path, default=JUDGEMENTS)
    arguments = parser.parse_args(args)
    name = arguments.name or arguments.folder.resolve().name
    judged = read_judgements(arguments.judgements / f"{name}.jsonl")
    drawn = draw(findings(arguments.folder), arguments.sample, arguments.seed)
    for finding in drawn:
        if key(finding) not in judged:
            print(shown(arguments.folder, finding), end="\n\n")
    print(share([judged[key(row)] for row in drawn if key(row) in judged], len(drawn)))
    return 0


def findings(folder: Path) -> list[dict[str, Any]]:
    """What lint finds in a folder that is also its catalog, but for what it could not read."""
    command = [sys.executable, "-m", "sqlrewrite", "lint", ".", "-c", ".", "--format", "json"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    every = json.loads(ran.stdout)["findings"]
    return [
        finding
        for finding in every
        if finding["code"] != "DPP000" and finding["suppressed"] is None
    ]


def draw(found: Sequence[dict[str, Any]], size: int, seed: int) -> list[dict[str, Any]]:
    """The same findings for the same seed, in the order of the files."""
    chosen = random.Random(seed).sample(range(len(found)), min(size, len(found)))
    return [found[number] for number in sorted(chosen)]


def key(finding: dict[str, Any]) -> tuple[str, int, str]:
    """What a judgement is of."""
    return finding.get("path") or finding["file"], finding["line"], finding["code"]


def read_judgements(path: Path) -> Judged:
    """The judgements in a file, by what they are of; none if it is not there."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {key(row): row for row in map(json.loads, filter(None, lines))}


def shown(folder: Path, finding: dict[str, Any]) -> str:
    """A finding with the lines around it."""
    path, line, code = key(finding)
    lines = (folder / path).read_text("utf-8", "replace").split("\n")
    first = max(0, line - _AROUND)
    text = "\n".join(
        f"{'>' if number == line else ' '} {number:5} {text}"
        for number, text in enumerate(lines[first : line + _AROUND], first + 1)
    )
    return f"{path}:{line}: {code} {finding['severity']}: {finding['message']}\n{text}"


def share(judged: Sequence[dict[str, Any]], drawn: int) -> str:
    """How many of those judged are true."""
    true = sum(bool(row["true"]) for row in judged)
    part = f", {true / len(judged):.0%}" if judged else ""
    return f"{drawn} drawn, {len(judged)} judged, {true} true{part}"


if __name__ == "__main__":
    sys.exit(main())
