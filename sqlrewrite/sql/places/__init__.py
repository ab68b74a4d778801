"""Where in the text clauses, conjuncts, table references and operands begin and end."""
