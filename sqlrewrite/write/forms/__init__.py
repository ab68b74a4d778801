"""The forms of a predicate, a module each: how it is written from proposals that passed.

``judge.form`` chooses between them and says how large their keys may be; ``sql.marked`` finds each
again in a text.
"""
