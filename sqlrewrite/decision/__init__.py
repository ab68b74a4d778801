"""Decides one statement: judges its pairs, then places and checks their predicates."""
