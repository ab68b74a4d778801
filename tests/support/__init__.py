"""What several test modules share; nothing here is a test.

cases             the queries of ``fixtures/`` as values, checks of a result by code of their own
fixture_rows      a DuckDB with random rows for a DDL of the fixtures, and a text's rows as bags
retail_rows       the same for the retail schema
random_warehouse  tables with random rows for queries written by hand, and a DuckDB that has them
duckdb_text       Spark SQL as DuckDB reads it
compare_rows      whether two runs on Spark returned the same rows
strip_by_markers  a text without our predicates, found by code that the rewriter does not share
render_templates  a template as dbt, Spark and Databricks run it
rule_witnesses    for each soundness rule a query that goes wrong without it
set_statements    SET and RESET statements, and the types that Spark then gives a query
turns             of many texts those whose turn it is today
stable_draws      random draws of files that stay the same when a file is added
regular_expressions  those of the package, and texts made against each
"""
