"""An engine in a process beside this one, asked a line at a time, as ``Flink.java`` is."""

from __future__ import annotations

import subprocess
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path


class EngineError(Exception):
    """What the engine says is wrong with a statement."""


class Engine:
    """One engine, asked a statement at a time."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._log = log.open("w")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        if self._said() != "up\n":
            raise EngineError(f"it does not start: {log.read_text()[-2000:]}")

    def rows(self, sql: str) -> str:
        """The rows of a statement, a line each, sorted. Raises EngineError."""
        return self.ask(f"run {encoded(sql)}")

    def ask(self, line: str) -> str:
        """What the program says to a line of its own. Raises EngineError."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        outcome, _, encoded = self._said().strip().partition(" =")
        answer = b64decode(encoded).decode()
        if outcome != "ok":
            raise EngineError(answer)
        return answer

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._log.close()

    def _said(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def encoded(text: str) -> str:
    """A text as one word of a line."""
    return b64encode(text.encode()).decode()
