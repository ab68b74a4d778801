"""What a shell completes."""

from __future__ import annotations

import pytest

from tests.cli.conftest import invoke


def completed(words: str) -> list[str]:
    """What click tells bash: a type and a value a line."""
    ran = invoke(
        _DPP_REWRITE_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split(" ")) - 1),
    )
    return ran.out.decode().splitlines()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("dpp-rewrite li", ["plain,lint"]),
        ("dpp-rewrite q", ["file,q"]),
        ("dpp-rewrite --che", ["plain,--check"]),
        ("dpp-rewrite lint --ext", ["plain,--extend-select", "plain,--extend-exclude"]),
        ("dpp-rewrite lint --format sa", ["plain,sarif"]),
        ("dpp-rewrite lint -c dd", ["file,dd"]),
        ("dpp-rewrite lint q", ["file,q"]),
        ("dpp-rewrite lint --select dpp000", ["plain,DPP000"]),
        ("dpp-rewrite --engine fl", ["plain,flink"]),
        ("dpp-rewrite --engine rules/x", ["file,rules/x"]),
        ("dpp-rewrite --dialect sp", ["plain,spark"]),
        ("dpp-rewrite rules DPP101", ["plain,DPP101"]),
        ("dpp-rewrite catalog sh", ["plain,show"]),
    ],
)
def test_words_are_completed(words: str, found: list[str]) -> None:
    assert completed(words) == found


def test_a_shell_gets_its_script() -> None:
    assert b"complete" in invoke(_DPP_REWRITE_COMPLETE="zsh_source").out
