"""What can be done with a text before it is parsed: lines, edits, templates, markers, size
limits.
"""
