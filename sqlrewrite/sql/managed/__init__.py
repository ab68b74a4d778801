"""Managed predicates: what an earlier run wrote, found in a text and taken out of it."""
