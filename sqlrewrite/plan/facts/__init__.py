"""What is known of an expression, by itself. One module a question:

- Which data types are there, which settings of a session decide them (``types``), and how are they
  written (``type_text``)?
- What does the table of functions say (``rules/functions/spark.toml``)? ``functions``: nothing else
  reads that file
- What is the type of a constant (``constants``), of an operator (``operator_types``), of a call
  (``result_types``, by the table's signatures and by ``result_rules``)?
- What is the common type of two types, and do all comparisons agree on it (``coercion``)?
- Can a call raise an error, given its constants (``constants``) or the types of its operands
  (``operand_checks``)? Is there a form of it that cannot (``error_free``)?
- How does an expression depend on one column: does it keep the order, the NULLs, the period
  (``derivations``)?

The type of an expression in a plan is ``plan.columns.type_of``.
"""
