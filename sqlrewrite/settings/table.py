"""The table of settings: one row each, a field of ``Settings``.

Everything else is derived from it: the keys of a TOML file, the environment variables, the options
with their ``--help``, the table in ``docs/reference.md`` and ``docs/dpp-rewrite.schema.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, NamedTuple

from sqlrewrite.settings import value_kinds as kinds
from sqlrewrite.settings.forms import CHOICES, FORMS, IN
from sqlrewrite.settings.value_kinds import (
    BOOLEAN,
    CODES,
    COUNT,
    SIZE,
    STRING,
    STRINGS,
    Pairs,
    ValueKind,
    one_of,
)
from sqlrewrite.text.limits import SPARK, Limits

WHENS = ("eligible", "missed", "auto")
"""Which predicates to write: every sound and worthwhile one; only those that the engine would not
derive by itself; or the latter, under the known settings of Spark and in a form that prunes with
them."""

STRATEGIES = ("predicates", "partition-wise")
"""What is written: pruning predicates, or joins by groups of partitions and nothing else."""

LEAVING = ("missed", "auto")
"""Values of ``when`` with which some predicates are left to the engine."""

ON_SPARK = ("rewrite", "explain", "verify")
ON_QUERIES = (*ON_SPARK, "lint", "audit")
ON_CATALOG = (*ON_QUERIES, "catalog show", "catalog check")
ON_FILES = ("rewrite", "lint")

PREFIX = "DPP_REWRITE_"
"""The prefix of environment variables."""


class Setting(NamedTuple):
    """A row of the table.

    ``section``: its part of ``--help``. ``commands``: those that have it as an option. ``short``,
    ``off``: other spellings of the option. ``default_text``: the default in words. ``adds``: the
    option's values are added to the project's, instead of replacing them. ``hides``: the project's
    setting that the option overrides. ``decides``: the text that is written depends on it.
    ``brief``: a short text for ``--help``, if ``help`` is long; the reference has ``help``.
    """

    name: str
    default: Any
    kind: ValueKind
    help: str
    section: str = ""
    commands: tuple[str, ...] = ()
    short: str = ""
    off: str = ""
    metavar: str | None = None
    default_text: str = ""
    adds: bool = False
    hides: str = ""
    decides: bool = False
    brief: str = ""
    since: str = "0.1.0"

    @property
    def key(self) -> str:
        """Its key in a TOML file."""
        return self.name.replace("_", "-")

    @property
    def option(self) -> str:
        """Its option on the command line."""
        return f"--{self.key}"

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return PREFIX + self.name.upper()

    @property
    def shown_default(self) -> str:
        """The default as ``--help`` shows it; empty if no value is the default."""
        if self.default_text or self.default in (None, False, (), {}):
            return self.default_text
        return self.key if self.default is True else str(self.default)


def _setting(default: Any, kind: ValueKind, help: str, **row: Any) -> Any:
    """A field of ``Settings``, with the rest of its row as metadata."""
    metadata = {"kind": kind, "help": help, **row}
    if default == {}:
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


_known = partial(_setting, section="known", commands=ON_CATALOG)
_inserted = partial(_setting, section="inserted", commands=ON_QUERIES, decides=True)
_counts = partial(_setting, section="counts", commands=("lint",))
_files = partial(_setting, section="files", commands=ON_FILES)
_work = partial(_setting, section="work", commands=ON_FILES)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a file; ``origins`` says where each was set."""

    catalog: tuple[str, ...] = _known(
        (),
        kinds.PATHS,
        "Where the tables are described: a DDL .sql file, a directory of them, a snapshot .json, "
        "or dbt's target/manifest.json or dbt_project.yml. Repeatable; later ones win.",
        brief="Where tables are described: a DDL .sql file or a folder of them, a snapshot "
        ".json, dbt's manifest.json or dbt_project.yml. Repeatable.",
        short="-c",
        metavar="PATH",
    )
    schema: str | None = _known(
        None,
        STRING,
        "Current schema, in which table names without a schema are looked up.",
        brief="The schema of table names that have none, as after USE.",
        metavar="NAME",
    )
    engine: str = _setting(
        "spark",
        STRING,
        "The engine whose rules apply: spark, flink, trino, duckdb, or a .toml file.",
        brief="The engine that runs the SQL: spark, flink, trino, duckdb, or a .toml file.",
        section="known",
        commands=ON_QUERIES,
        metavar="NAME|FILE",
        decides=True,
    )
    dialect: str = _setting(
        SPARK,
        STRING,
        "The SQL dialect that is read and written: spark, trino, duckdb, flink.",
        brief="The dialect of the SQL: spark, trino, duckdb, flink.",
        section="known",
        commands=(*ON_FILES, "catalog show"),
        metavar="NAME",
        decides=True,
    )
    predicate: str = _inserted(
        IN,
        one_of(CHOICES),
        " ".join(
            [
                "Form of the predicate.",
                *(f"{form.name}: {form.help}" for form in FORMS if form.help),
            ]
        ),
        brief="in: IN (SELECT …). set: an array of the keys. range: from the smallest to the "
        "largest key. values: the present keys as literals, asked of Spark. auto: in, or set "
        "where an IN would not prune.",
    )
    when: str | None = _inserted(
        None,
        one_of(WHENS),
        "Which predicates to write. eligible: every sound and worthwhile one. missed: of these, "
        "only those that the engine would not derive by itself. auto: as missed, under the "
        "settings of Spark that are known, and in the form set where dynamic pruning is off.",
        default_text="eligible; auto where Spark's settings are known",
        brief="eligible: every sound predicate that pays. missed: only those that the engine would "
        "not derive by itself. auto: as missed, under the known settings of Spark.",
    )
    hint: bool = _inserted(
        True,
        BOOLEAN,
        "Put /*+ BROADCAST(…) */ into the subquery.",
        off="--no-hint",
        brief="Put /*+ BROADCAST(…) */ into the subquery.",
    )
    depth: int = _setting(
        3, COUNT, "How many joins away from the dimension filters are looked for.", decides=True
    )
    through_facts: bool | None = _setting(
        None,
        BOOLEAN,
        "Look for filters beyond partitioned tables too. Not given: only where statistics say that "
        "it pays.",
        default_text="where it pays",
        decides=True,
    )
    key_limit: int | None = _setting(
        None,
        SIZE,
        "Write no predicate that would collect more bytes of keys than this, by the statistics.",
        default_text="32MB",
        decides=True,
    )
    collapse_over: int = _setting(
        1_000,
        COUNT,
        '`predicate = "values"`: for more keys than this, write BETWEEN the smallest and the '
        "largest.",
    )
    refuse_over: int = _setting(
        1_000_000, COUNT, '`predicate = "values"`: for more keys than this, write no predicate.'
    )
    strategy: str = _inserted(
        "predicates",
        one_of(STRATEGIES),
        "What to write. predicates: predicates that prune. partition-wise: a join of two tables "
        "with the same partitioning, as a UNION ALL over groups of their partitions; the report "
        "says what Spark would need to join them partition by partition by itself.",
        brief="predicates: predicates that prune. partition-wise: a join of two tables with the "
        "same partitioning becomes a UNION ALL over groups of partitions.",
        commands=ON_SPARK,
    )
    groups: int | None = _inserted(
        None,
        kinds.GROUPS,
        "partition-wise: the number of groups. Not given: as many as make one side of each small "
        "enough to be broadcast, where sizes are known and it pays.",
        brief="The number of groups of --strategy partition-wise.",
        metavar="N",
        default_text="where it pays",
        commands=ON_SPARK,
    )
    functions: Mapping[str, str] = _setting(
        {},
        kinds.FUNCTIONS,
        "Your own functions, by the name they are called by. deterministic: one value for one "
        "input, however often it is computed, and not an aggregate. total: deterministic, and it "
        "never raises an error. An expression that calls any other function of yours is not copied "
        "or moved.",
        decides=True,
    )
    derived: Mapping[str, Mapping[str, str]] = _setting(
        {},
        kinds.DERIVED,
        "Columns that are computed from other columns of their row, by table and column: "
        "`dt = \"date_format(ts, 'yyyy-MM-dd')\"`. A filter or a join on `ts` then bounds "
        "`dt`. `dpp-rewrite catalog check` counts the rows for which it does not hold.",
    )
    variables: Mapping[str, str] = _setting(
        {},
        kinds.VARIABLES,
        'Values of variables in names: with `db = "prod"`, `${db}.t`, `${hiveconf:db}.t` and '
        "`{{ db }}.t` are the table prod.t, in queries and DDL. A text that sets the variable "
        "itself is read without this value.",
    )
    spark_conf: Mapping[str, str] = _setting(
        {},
        kinds.CONF,
        "Spark's settings in the sessions that run the queries, where they differ from what "
        "`catalog pull` found or from Spark's defaults. What Spark prunes by itself depends on "
        "them, and so does what `when` writes.",
    )
    spark_version: str | None = _known(
        None,
        kinds.SPARK_VERSION,
        "The version of Spark that runs the queries. Not given: the one that `catalog pull` found; "
        "else that of the Spark that `explain` and `verify` ask, or that `--master` or `--remote` "
        "names; else only what holds for every version from 3.5 is written and reported.",
        brief="The version of Spark, as 3.5 or 4.1.",
        metavar="VERSION",
        default_text="not known",
    )
    time_zone: str | None = _setting(
        None,
        kinds.ZONE,
        "The time zone (spark.sql.session.timeZone) of all sessions that write and read columns "
        "derived from a TIMESTAMP. Not given: the sessions may differ, so bounds are two days "
        "wider.",
        default_text="not known",
        decides=True,
    )
    double_quoted_identifiers: bool | None = _setting(
        None,
        BOOLEAN,
        'Whether Spark reads "…" as a name (spark.sql.ansi.doubleQuotedIdentifiers, with ANSI mode '
        "on) or as a string. Not given: a statement where it may be either is left alone.",
        default_text="not known",
        decides=True,
    )
    file_limit: int = _setting(
        Limits().file, SIZE, "Skip files larger than this.", default_text="4MB", decides=True
    )
    statement_limit: int = _setting(
        Limits().statement,
        SIZE,
        "Skip statements larger than this.",
        default_text="1MB",
        decides=True,
    )
    nesting_limit: int = _setting(
        Limits().nesting, kinds.NESTING, "Skip statements nested deeper than this.", decides=True
    )
    step_limit: int = _setting(
        Limits().steps,
        kinds.AT_LEAST_ONE,
        "Leave alone statements that take more steps to judge than this. A step is a column or a "
        "relation that is looked at: an ordinary query takes some hundred.",
        decides=True,
    )
    select: tuple[str, ...] = _counts(
        (),
        CODES,
        "Report only findings with these codes. DPP00 selects all codes that begin with it.",
        metavar="CODES",
        default_text="all",
        hides="ignore",
    )
    ignore: tuple[str, ...] = _counts(
        (), CODES, "Report no findings with these codes.", metavar="CODES", adds=True
    )
    extend_select: tuple[str, ...] = _counts(
        (),
        CODES,
        "Report findings with these codes too, besides those that the settings select.",
        metavar="CODES",
        adds=True,
    )
    per_file_ignores: Pairs = _counts(  # noqa: RUF009 - it makes a field
        (),
        kinds.CODES_BY_PATTERN,
        "Report no findings with CODE in files that match PATTERN, as in `legacy/*:DPP007`.",
        metavar="PATTERN:CODE",
        adds=True,
    )
    severity: Pairs = _counts(  # noqa: RUF009 - it makes a field
        (),
        kinds.SEVERITIES,
        "How severe findings with CODE are: error, warning or note, as in `DPP007=note`.",
        metavar="CODE=LEVEL",
        adds=True,
    )
    baseline: str | None = _counts(
        None, STRING, "A file of known findings, which are not reported.", metavar="FILE"
    )
    exclude: tuple[str, ...] = _files(
        (),
        STRINGS,
        "Files to leave out: names at any depth, or paths from the folder of the settings.",
        brief="Leave these files out, by name or path.",
        metavar="PATTERNS",
    )
    extend_exclude: tuple[str, ...] = _files(
        (),
        STRINGS,
        "More files to leave out. The option adds to those that the settings name.",
        brief="Leave these files out, besides those that the settings name.",
        metavar="PATTERNS",
        adds=True,
    )
    force_exclude: bool = _files(
        False,
        BOOLEAN,
        "Leave out what `exclude` names even if it is given by name, as hooks do.",
        brief="Leave them out even if they are given by name, as hooks do.",
        off="--no-force-exclude",
    )
    include_python: bool = _files(
        False,
        BOOLEAN,
        "When a folder is searched, read the SQL in *.py and *.ipynb too. A file that is given by "
        "name is always read.",
        brief="In folders, read the SQL in *.py and *.ipynb too.",
        off="--no-include-python",
    )
    respect_gitignore: bool = _files(
        True,
        BOOLEAN,
        "When a folder is searched, leave out what git ignores.",
        brief="In folders, leave out the files that git ignores.",
        off="--no-respect-gitignore",
    )
    jobs: int | None = _work(
        None,
        kinds.AT_LEAST_ONE,
        "How many processes work on many files.",
        brief="How many processes work on many files.",
        short="-j",
        metavar="N",
        default_text="one per core",
    )
    cache: bool = _work(
        True,
        BOOLEAN,
        "Remember which of many files have nothing to report, to be faster the next time.",
        brief="Remember files with nothing to report for the next run.",
        off="--no-cache",
    )
    explain: str = _setting(
        "logical",
        one_of(("logical", "spark", "none")),
        "How the plan changes. logical: our own plan. spark: Spark's plan, as `explain` prints it.",
        brief="Print how the plan changes. logical: our own plan. spark: Spark's.",
        section="reported",
        commands=("rewrite",),
        default_text="logical; with --check: none",
    )
    strict: bool = _setting(
        False,
        BOOLEAN,
        "A statement that does not parse fails --check, and is a finding that counts for lint.",
        brief="Exit 1 for a statement that does not parse, too.",
        section="exit",
        commands=ON_FILES,
    )
    root: str = "."
    source: str | None = None
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def limits(self) -> Limits:
        """The limits of size and depth for a text, and what its double quotes mean."""
        return Limits(
            self.file_limit,
            self.statement_limit,
            self.nesting_limit,
            self.step_limit,
            self.double_quoted_identifiers if self.dialect == SPARK else False,
            self.dialect,
        )


def _default(field_: Any) -> Any:
    return {} if field_.default_factory is dict else field_.default


TABLE = tuple(
    Setting(field.name, _default(field), **field.metadata)
    for field in fields(Settings)
    if field.metadata
)
"""All settings, in the order of the reference."""

KEYS: Mapping[str, Setting] = {row.key: row for row in TABLE}
"""Each setting by its key."""


def named(name: str) -> Setting:
    """The setting of that name, which is its key with ``_`` for ``-``."""
    return KEYS[name.replace("_", "-")]


def section(name: str) -> tuple[str, ...]:
    """The names of the settings in one section of ``--help``."""
    return tuple(row.name for row in TABLE if row.section == name)


def decisive(settings: Settings) -> dict[str, Any]:
    """The settings on which the text that is written depends, by name."""
    return {row.name: getattr(settings, row.name) for row in TABLE if row.decides}
