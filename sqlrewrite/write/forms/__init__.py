"""The forms of a predicate, a module each: how it is written from proposals that passed.

What a form looks like and what its keys need is its row of ``settings.forms``.
"""
