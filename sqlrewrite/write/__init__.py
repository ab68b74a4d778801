"""Predicates: their forms, where in the text each goes, and the check of what was written."""
