"""The forms of a lint report, one module each.

A module for people has ``lines`` for one file at a time; one for machines has ``report``, which
makes one document of all files. ``FORMATS`` are the values of ``--format``.
"""

PEOPLE = ("text", "concise")
MACHINES = ("json", "sarif", "github", "gitlab", "junit")
FORMATS = PEOPLE + MACHINES
