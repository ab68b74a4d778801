"""The forms of a lint report, one module each.

A module for people has ``lines``, which says one file at a time; one for machines has ``report``,
which makes one document of all files. ``FORMATS`` is what ``--format`` may name.
"""

PEOPLE = ("text", "concise")
MACHINES = ("json", "sarif", "github", "gitlab", "junit")
FORMATS = PEOPLE + MACHINES
