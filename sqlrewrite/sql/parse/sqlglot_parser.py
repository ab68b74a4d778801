"""sqlglot's Spark parser, and the list of its undocumented parts that we rely on.

The grammars in this folder override the methods of ``OVERRIDDEN``, call those of ``CALLED`` and
read the tables of ``TABLES``; tests/sql/test_sqlglot_facts.py holds that these lists are complete,
and that each method has the parameters that we use. The positions of names and literals, and the
kinds of tokens, are tested there too.

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

OVERRIDDEN = frozenset(
    """
    _is_table_query _parse_bitwise _parse_bracket _parse_cast _parse_colon_as_variant_extract
    _parse_column_parts_fast _parse_comparison _parse_dcolon _parse_derived_table_values
    _parse_equality _parse_factor _parse_from _parse_function_call _parse_in _parse_insert
    _parse_insert_table _parse_lambda _parse_merge _parse_property _parse_query_modifiers
    _parse_range _parse_select _parse_select_query _parse_set_operations _parse_statement
    _parse_table _parse_term _parse_types _parse_unary _parse_value _parse_wrapped_select
    _warn_unsupported build_cast
    """.split()
)
"""Methods of the parser that ours override."""

CALLED = frozenset(
    """
    _advance _curr _index _match _match_pair _match_r_paren _match_text_seq _match_texts _next
    _parse_assignment _parse_atom _parse_boolean _parse_case _parse_column _parse_create _parse_csv
    _parse_ddl_select _parse_disjunction _parse_exists _parse_expression _parse_field_def
    _parse_function _parse_function_args _parse_group _parse_id_var _parse_join _parse_joins
    _parse_lateral _parse_null _parse_partition _parse_pivots _parse_placeholder _parse_primary
    _parse_row_format _parse_schema _parse_select_or_expression _parse_stored _parse_string
    _parse_table_parts _parse_table_sample _parse_transform _parse_type _parse_var_or_string
    _parse_where _parse_window _parse_wrapped_csv _prev _prev_comments _retreat _tokens
    """.split()
)
"""Methods and attributes of the parser that ours use, beside those that they override."""

TABLES = frozenset(
    """
    ARRAY_CONSTRUCTORS BRACKETS COLON_IS_VARIANT_EXTRACT COLUMN_OPERATORS COLUMN_POSTFIX_TOKENS
    FUNCTIONS FUNC_TOKENS IDENTIFIER_TOKENS ID_VAR_TOKENS NO_PAREN_FUNCTIONS
    NO_PAREN_FUNCTION_PARSERS QUERY_MODIFIER_PARSERS RESERVED_TOKENS STRICT_CAST
    """.split()
)
"""Tables of the parser that ours read or replace."""

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
