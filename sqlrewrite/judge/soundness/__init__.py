"""The soundness rules, a module each: whether a predicate would be right."""
