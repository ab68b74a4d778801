"""The benefit rules, a module each: whether a predicate would be worth it."""
