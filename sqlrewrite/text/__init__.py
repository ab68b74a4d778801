"""Texts without their grammar: lines, edits, templates, notes, limits."""
