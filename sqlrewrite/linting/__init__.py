"""Findings about a query: what keeps it from pruning, and what no longer does what it should."""
