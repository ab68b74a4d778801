"""sqlglot's Spark parser, from which the grammars in this folder derive.

All undocumented parts of it that they override, call and read are listed and tested in
tests/sql/test_sqlglot_facts.py, as are the positions of names and literals and the kinds of tokens.

mypyc's classes refuse interpreted subclasses (sqlglot pull request 7265), but their wheels carry
the sources as well. If the parser is compiled, as it may be beside SQLMesh, its sources and those
of its base classes are loaded once more, as modules of our own; sqlglot's own modules stay as they
are.
"""

from __future__ import annotations

import builtins
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import sqlglot.parser
import sqlglot.parsers
from sqlglot import exp
from sqlglot.parsers.spark import SparkParser as _SparkParser

_SOURCES = ("parser", "parsers.base", "parsers.hive", "parsers.spark2", "parsers.spark")


def from_sources() -> type[_SparkParser]:
    """The parser's class, loaded again from its sources."""
    modules: dict[str, ModuleType] = {}

    def import_(name: str, *rest: Any) -> Any:
        if name == "sqlglot" and "parser" in modules:  # from sqlglot import exp, parser
            return SimpleNamespace(exp=exp, parser=modules["parser"])
        return modules.get(name.removeprefix("sqlglot.")) or builtins.__import__(name, *rest)

    folder = Path(sqlglot.parser.__file__).parent
    for name in _SOURCES:
        path = folder.joinpath(*name.split(".")).with_suffix(".py")
        spec = spec_from_file_location(f"{__name__}.{name.replace('.', '_')}", path)
        assert spec is not None
        assert spec.loader is not None
        module = modules[name] = module_from_spec(spec)
        module.__dict__["__builtins__"] = {**builtins.__dict__, "__import__": import_}
        spec.loader.exec_module(module)
    parser: type[_SparkParser] = modules["parsers.spark"].SparkParser
    return parser


if TYPE_CHECKING:
    SparkParser = _SparkParser
else:
    _PLAIN = str(sqlglot.parser.__file__).endswith(".py")
    SparkParser = _SparkParser if _PLAIN else from_sources()
