"""Measurements, each a command ``python -m benchmarks.NAME``; what each prints is in its docstring.

The cost of the tool, in one or two processes:

    python -m benchmarks        rewriting and linting against parsing, memory, starts of the program
    benchmarks.many             a repository of many small files, with a cold and a warm cache
    benchmarks.editor           a keystroke in an editor

What the predicates bring, on Spark or DuckDB:

    benchmarks.tpcds            the 99 queries of TPC-DS, original against rewritten
    benchmarks.native_score     whether it is predicted rightly what Spark prunes by itself
    benchmarks.pruning_suite    queries after the shapes of Spark's own pruning suite
    benchmarks.partition_wise   joins of two tables that are partitioned alike
    benchmarks.repositories     what is understood of public warehouses

``enable`` and ``audit`` on Spark:

    benchmarks.enable           what ``enable(spark)`` adds to a query
    benchmarks.audit            a history of a million queries

What the repository holds, checked:

    benchmarks.functions        each row of the table of functions, asked of Spark
    benchmarks.precision        a sample of lint's findings in a repository, to be judged

Modules of these, no commands: ``progress`` says where a run is; ``tpcds_data``, ``tpcds_report``
and ``warehouse`` are TPC-DS's texts, its tables of results and its files; ``regimes`` are settings
of Spark.
"""
