"""Findings about a query: what keeps it from pruning, and which predicates are out of date."""
