"""Texts without their grammar: lines, edits, templates, markers, limits."""
