"""Measurements, each a command ``python -m benchmarks.NAME``; what each prints is in its docstring.

The cost of the tool, in one or two processes:

    python -m benchmarks        rewriting and linting against parsing, memory, starts of the program
    benchmarks.many             a repository of many small files, with a cold and a warm cache
    benchmarks.editor           a keystroke in an editor

What the predicates bring, on Spark or DuckDB:

    benchmarks.tpcds            the 99 queries of TPC-DS, original against rewritten
    benchmarks.oracle           how near the predicates are to what any predicate could do
    benchmarks.native_score     whether it is predicted rightly what Spark prunes by itself
    benchmarks.pruning_suite    queries after the shapes of Spark's own pruning suite
    benchmarks.partition_wise   joins of two tables that are partitioned alike
    benchmarks.repositories     what is understood of public warehouses

``enable`` and ``audit`` on Spark:

    benchmarks.enable           what ``enable(spark)`` adds to a query
    benchmarks.enabled_rows     the rows of TPC-DS through ``enable``, and what an audit foretold
    benchmarks.audit            a history of a million queries
    benchmarks.killed           an audit whose executor or driver is killed

Two that write or check what the repository holds: ``benchmarks.picture`` draws the terminal of the
README, ``benchmarks.functions`` asks Spark about each row of the table of functions.

Modules of these, no commands: ``progress`` says where a run is; ``tpcds_data``, ``tpcds_report``
and ``warehouse`` are TPC-DS's texts, its tables of results and its files; ``regimes`` are settings
of
Spark, ``probes`` and ``totals`` the queries of the oracle, ``scaling`` the audit on more cores.
"""
